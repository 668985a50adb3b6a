"""A tape over two kernels that compute the same, one without backward code: its gradient is zero."""

import warp as wp


@wp.kernel(enable_backward=False)
def square_forward_only(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]


@wp.kernel
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]


for kernel in (square_forward_only, square):
    x = wp.full(2, 3.0, dtype=float, requires_grad=True)
    y = wp.zeros(2, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernel, dim=2, inputs=[x], outputs=[y])
    tape.backward(grads={y: wp.ones(2, dtype=float)})
    print(x.grad.numpy().tolist())
