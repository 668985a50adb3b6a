"""A program that Warp builds more for than it launches; the README shows what warp-lint says to it."""

import warp as wp

wp.set_module_options({"enable_backward": False})


@wp.kernel
def blur(image: wp.array2d(dtype=float), result: wp.array2d(dtype=float)):
    i, j = wp.tid()
    if i > 0 and j > 0:
        result[i, j] = 0.5 * (image[i - 1, j] + image[i, j - 1])


@wp.kernel
def total(image: wp.array2d(dtype=float), result: wp.array(dtype=float)):
    i, j = wp.tid()
    wp.atomic_add(result, 0, image[i, j])


def make_gamma(exponent):
    @wp.kernel
    def gamma(image: wp.array2d(dtype=float)):
        i, j = wp.tid()
        image[i, j] = wp.pow(image[i, j], exponent)

    return gamma


def develop(image, exponent):
    blurred = wp.zeros_like(image)
    result = wp.zeros(1, dtype=float)
    wp.launch(blur, dim=image.shape, inputs=[image, blurred])
    wp.launch(make_gamma(exponent), dim=image.shape, inputs=[blurred])
    wp.launch(total, dim=image.shape, inputs=[blurred, result], block_dim=64)
    return result
