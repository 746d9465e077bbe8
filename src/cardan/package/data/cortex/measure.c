/* Runs the test of the package, then counts instructions and stack of a call of every function.

With `-icount shift=0` QEMU takes 1 ns for every instruction, and SysTick of these boards counts
every 40 ns: 40 instructions. */
#include <@NAME@.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CONTROL (*(volatile uint32_t *)0xE000E010u)
#define RELOAD (*(volatile uint32_t *)0xE000E014u)
#define VALUE (*(volatile uint32_t *)0xE000E018u)
#define PER_TICK 40u
#define CALLS 200u
#define DEEP 8192u /* words of the stack that are looked at */
#define MARK 0xA5A5A5A5u

extern int run_test(void);

@CALLS@
static const struct {
    const char *name;
    void (*call)(void);
} functions[] = {
@TABLE@
};

static void nothing(void)
{
}

static uint32_t ticks(void (*volatile call)(void))
{
    uint32_t k, start;
    RELOAD = 0xFFFFFFu;
    VALUE = 0u;
    CONTROL = 5u;
    start = VALUE;
    for (k = 0; k < CALLS; ++k)
        call();
    return (start - VALUE) & 0xFFFFFFu;
}

/* Bytes below the stack pointer that a call writes. */
static __attribute__((noinline)) uint32_t depth(void (*volatile call)(void))
{
    volatile uint32_t *top, *p;
    uint32_t deepest = 0u;
    __asm volatile("mov %0, sp" : "=r"(top));
    for (p = top - 1; p >= top - DEEP; --p)
        *p = MARK;
    call();
    for (p = top - DEEP; p < top; ++p)
        if (*p != MARK) {
            deepest = (uint32_t)(top - p) * 4u;
            break;
        }
    return deepest;
}

int main(void)
{
    unsigned k;
    const int faults = run_test();
    const uint32_t empty = ticks(nothing);
    for (k = 0; k < sizeof functions / sizeof *functions; ++k) {
        const uint32_t count = (ticks(functions[k].call) - empty) * PER_TICK / CALLS;
        printf("measured %s %u %u\n", functions[k].name, (unsigned)depth(functions[k].call),
               (unsigned)count);
    }
    return faults;
}
