/* Vectors and start of a Cortex-M processor: memory, the floating-point unit, then main. */
#include <stdint.h>
#include <stdlib.h>

extern uint32_t data_source, data_start, data_end, bss_start, bss_end, stack_top;
extern int main(void);
extern void initialise_monitor_handles(void);
void reset(void);
void fault(void);

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    &stack_top, (void *)reset, (void *)fault, (void *)fault,
    (void *)fault, (void *)fault, (void *)fault};

void fault(void)
{
    exit(3);
}

void reset(void)
{
    uint32_t *from = &data_source, *to;
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: the floating-point unit */
    __asm volatile("dsb\n isb");
    for (to = &data_start; to < &data_end;)
        *to++ = *from++;
    for (to = &bss_start; to < &bss_end;)
        *to++ = 0;
    initialise_monitor_handles(); /* printf goes to the host by semihosting */
    exit(main());
}
