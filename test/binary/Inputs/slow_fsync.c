/* An fsync that takes SLOW_FSYNC seconds, to be preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

int fsync(int fd) {
  int (*original)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  const char *seconds = getenv("SLOW_FSYNC");
  if (seconds)
    usleep((useconds_t)(atof(seconds) * 1e6));
  return original(fd);
}
