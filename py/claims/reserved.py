"""What share of the machine's memory this process takes: after the import, and after a first operation."""

import os

import psutil


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def scenario(context):
    before = resident()
    context.tf.matmul(context.tf.ones([64, 64]), context.tf.ones([64, 64]))
    total = psutil.virtual_memory().total
    yield f"{before / total:.4f} of the memory after the import, {resident() / total:.4f} after an operation"
