/* A call of 32-bit x86 from a 64-bit program: getpid by int 0x80. */
#include <stdio.h>

int main(void) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "0"(20) : "memory");
  printf("%ld\n", result);
  return 0;
}
