#!/usr/bin/env python3
"""Trains the network of `applications::digits` and writes its integer weights and the digits held out.

    pip install numpy scikit-learn
    python3 digits.py            # writes digits.weights and digits.held-out beside itself; half a minute

The network: 28x28 points of 0 to 16, a 5x5 convolution to 16 channels, ReLU, maximum of 2x2, another 5x5
convolution to 16 channels, ReLU, maximum of 2x2, 256 to 100 with ReLU, 100 to 10. Weights are integers of 8
bits; behind each layer but the last a sum is divided by a power of two and rounded down, so that what is left
has a fixed number of bits whatever the image is.

digits.weights: for each layer its weights (int8; one row for each thing that goes in, one column for each
that comes out), then its biases (int32, lowest byte first). digits.held-out: 64 points (8x8) and the digit, a
byte each.
"""

import pathlib

import numpy as np
from sklearn.datasets import load_digits

HELD_OUT = 360
WIDTHS = [8, 12, 12]  # bits of what comes out of each layer but the last
HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(2024)


def enlarge(images):
    """8x8 to 28x28: each point three times three, and two points of 0 around."""
    return np.pad(np.kron(images, np.ones((1, 3, 3))), ((0, 0), (2, 2), (2, 2)))


def patches(x):
    """Of images (n, side, side, channels) all 5x5 patches: (n, side - 4, side - 4, 25 channels)."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (5, 5), axis=(1, 2))
    return np.moveaxis(windows, 3, 5).reshape(*windows.shape[:3], -1)


def blocks(x):
    """The four of each 2x2 block: (n, side / 2, side / 2, channels, 4)."""
    n, side, _, channels = x.shape
    x = x.reshape(n, side // 2, 2, side // 2, 2, channels)
    return x.transpose(0, 1, 3, 5, 2, 4).reshape(n, side // 2, side // 2, channels, 4)


def unblock(x):
    n, half, _, channels, _ = x.shape
    x = x.reshape(n, half, half, channels, 2, 2).transpose(0, 1, 4, 2, 5, 3)
    return x.reshape(n, 2 * half, 2 * half, channels)


def forward(x, weights, biases):
    """Logits, and what the way back needs."""
    seen = []
    for layer in range(4):
        x = patches(x) if layer < 2 else x.reshape(len(x), -1)
        y = x @ weights[layer] + biases[layer]
        seen.append((x, y))
        if layer < 2:
            y = blocks(y).max(axis=-1)
        x = np.maximum(y, 0) if layer < 3 else y
    return x, seen


def backward(error, seen, weights):
    """Gradients of weights and biases."""
    gradients = [None] * 4
    for layer in reversed(range(4)):
        x, y = seen[layer]
        if layer < 2:
            four = blocks(y)
            best = four.max(axis=-1, keepdims=True)
            error = error.reshape(best.shape) * (four == best) * (best > 0)
            error = unblock(error)
        elif layer < 3:
            error = error * (y > 0)
        flat = error.reshape(-1, error.shape[-1])
        gradients[layer] = (x.reshape(-1, x.shape[-1]).T @ flat, flat.sum(axis=0))
        error = error @ weights[layer].T
        if layer == 1:  # patches back to points
            n, side = error.shape[0], error.shape[1]
            error = error.reshape(n, side, side, 5, 5, -1)
            back = np.zeros((n, side + 4, side + 4, error.shape[-1]), error.dtype)
            for i in range(5):
                for j in range(5):
                    back[:, i : i + side, j : j + side] += error[:, :, :, i, j]
            error = back
    return gradients


def train(images, labels):
    shapes = [(25, 16), (400, 16), (256, 100), (100, 10)]
    weights = [rng.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in shapes]
    biases = [np.zeros(b, np.float32) for _, b in shapes]
    speeds = [(np.zeros_like(w), np.zeros_like(b)) for w, b in zip(weights, biases)]
    epochs = 16
    for epoch in range(epochs):
        rate = 0.02 * (1 - epoch / epochs)
        right = 0
        for batch in np.array_split(rng.permutation(len(images)), len(images) // 32):
            logits, seen = forward(images[batch], weights, biases)
            right += (logits.argmax(axis=1) == labels[batch]).sum()
            chances = np.exp(logits - logits.max(axis=1, keepdims=True))
            chances /= chances.sum(axis=1, keepdims=True)
            chances[np.arange(len(batch)), labels[batch]] -= 1
            gradients = backward(chances / len(batch), seen, weights)
            for layer, (gradient, of_bias) in enumerate(gradients):
                speed, speed_of_bias = speeds[layer]
                speed *= 0.9
                speed -= rate * (gradient + 1e-4 * weights[layer])
                speed_of_bias *= 0.9
                speed_of_bias -= rate * of_bias
                weights[layer] += speed
                biases[layer] += speed_of_bias
        print(f"epoch {epoch + 1}: {right / len(images):.4f} right", flush=True)
    return weights, biases


def quantise(weights, biases):
    """Integers of 8 bits, and by how many bits the sums of each layer but the last are divided: the largest
    that an image can cause has to fit."""
    scale, largest = 16.0, 16
    whole, whole_biases, shifts = [], [], []
    for layer in range(4):
        step = 127 / np.abs(weights[layer]).max()
        w = np.rint(weights[layer] * step).astype(np.int64)
        b = np.rint(biases[layer] * step * scale).astype(np.int64)
        whole.append(w)
        whole_biases.append(b)
        if layer < 3:
            bound = int((np.maximum(w, 0).sum(axis=0) * largest + np.maximum(b, 0)).max())
            shifts.append(max(bound.bit_length() - WIDTHS[layer], 0))
            scale *= step / 2 ** shifts[layer]
            largest = 2 ** WIDTHS[layer] - 1
    return whole, whole_biases, shifts


def integers(x, weights, biases, shifts):
    """Logits of the network of integers."""
    x = x.astype(np.int64)
    for layer in range(4):
        x = patches(x) if layer < 2 else x.reshape(len(x), -1)
        x = x @ weights[layer] + biases[layer]
        if layer < 3:
            x = np.maximum(x >> shifts[layer], 0)
        if layer < 2:
            x = blocks(x).max(axis=-1)
    return x


def main():
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    small, labels = digits.images[order], digits.target[order]
    images = enlarge(small)[..., None]
    cut = len(labels) - HELD_OUT
    weights, biases = train((images[:cut] / 16).astype(np.float32), labels[:cut])
    whole, whole_biases, shifts = quantise(weights, biases)
    right = (integers(images[cut:], whole, whole_biases, shifts).argmax(axis=1) == labels[cut:]).mean()
    print(f"held out: {right:.4f} right; sums are divided by 2 to the {shifts}")
    with open(HERE / "digits.weights", "wb") as file:
        for w, b in zip(whole, whole_biases):
            file.write(w.astype("<i1").tobytes() + b.astype("<i4").tobytes())
    with open(HERE / "digits.held-out", "wb") as file:
        for image, label in zip(small[cut:], labels[cut:]):
            file.write(image.astype(np.uint8).tobytes() + bytes([label]))


if __name__ == "__main__":
    main()
