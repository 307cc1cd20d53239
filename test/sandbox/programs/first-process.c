/* Whether process 1 of the sandbox can be traced or written to: "0 0" is no. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ptrace.h>

int main(void) {
  int traced = ptrace(PTRACE_SEIZE, 1, 0, 0) == 0;
  printf("%d %d\n", traced, open("/proc/1/mem", O_RDWR) >= 0);
  return 0;
}
