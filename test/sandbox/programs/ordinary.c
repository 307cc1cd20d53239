/* What ordinary programs do, each step named when it worked. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ifaddrs.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int secret = 42;

static void step(const char *name, int worked) {
  printf("%s %s\n", worked ? "ok" : "FAILED", name);
  fflush(stdout);
}

static void *thread(void *value) { return value; }

static int threads(void) {
  pthread_t all[8];
  int joined = 0;
  for (int i = 0; i < 8; i++)
    if (pthread_create(&all[i], NULL, thread, NULL) != 0) return 0;
  for (int i = 0; i < 8; i++) joined += pthread_join(all[i], NULL) == 0;
  return joined == 8;
}

static int spawned(void) {
  char *argv[] = {"true", NULL};
  pid_t pid;
  int status;
  if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ) != 0) return 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int polled(void) {
  int epoll = epoll_create1(0), event = eventfd(1, 0);
  struct epoll_event wanted = {.events = EPOLLIN}, got;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted) == 0 && epoll_wait(epoll, &got, 1, 1000) == 1;
}

/* What a debugger does to its own child. */
static int traced(void) {
  pid_t pid = fork();
  if (pid == 0) {
    secret = 43;
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    _exit(0);
  }
  int status, there = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) return 0;
  struct iovec local = {&there, sizeof there}, remote = {(void *)&secret, sizeof secret};
  int copied = process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)sizeof there;
  ptrace(PTRACE_CONT, pid, NULL, NULL);
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && copied && there == 43;
}

int main(void) {
  struct ifaddrs *addresses;
  struct statx info;
  int pair[2];
  step("threads", threads());
  step("spawn", spawned());
  step("epoll", polled());
  step("statx", statx(AT_FDCWD, "/", 0, STATX_BASIC_STATS, &info) == 0);
  step("interfaces", getifaddrs(&addresses) == 0);
  step("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  step("sockets", socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0 && socket(AF_INET6, SOCK_DGRAM, 0) >= 0);
  step("personality", personality(0xffffffff) != -1);
  step("debugger", traced());
  return 0;
}
