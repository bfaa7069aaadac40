//===- SharedRings.cpp - shared memory of ranks on one host ---------------===//

#include "comm/shm/SharedRings.h"

#include "base/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace braid;

static constexpr size_t kPage = 4096;

static size_t roundUpTo(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

// Returns the bytes of a ring. A rank has a fixed number of MiB for its rings to and from all others, but
// every ring has room for the signatures of operations.
static size_t capacityFor(int ranks) {
  constexpr size_t total = 8 << 20, minBytes = 64 << 10, maxBytes = 2 << 20;
  return std::clamp(roundUpTo(total / ranks, kPage), minBytes, maxBytes);
}

static size_t ringCount(int ranks) { return static_cast<size_t>(ranks) * (ranks - 1); }
static size_t statesBytes(int ranks) { return roundUpTo(ranks * sizeof(RankState), kPage); }
static size_t ringsBytes(int ranks) { return roundUpTo(ringCount(ranks) * sizeof(Ring), kPage); }
static size_t allBytes(int ranks) {
  return statesBytes(ranks) + ringsBytes(ranks) + ringCount(ranks) * capacityFor(ranks);
}

std::unique_ptr<SharedRings> SharedRings::make(int ranks) {
  int file = memfd_create("braid ranks", MFD_CLOEXEC);
  if (file < 0)
    fail("this host shares no memory between processes: ", strerror(errno), "; choose --transport=gloo");
  auto made = std::unique_ptr<SharedRings>(new SharedRings(ranks, file));
  int code = EINTR;
  while (code == EINTR)
    code = posix_fallocate(file, 0, static_cast<off_t>(allBytes(ranks)));
  if (code != 0)
    fail("cannot allocate the ", allBytes(ranks), " bytes of memory that ", ranks, " ranks share: ", strerror(code),
         "; free memory, or choose --transport=gloo");
  made->map();
  return made;
}

std::unique_ptr<SharedRings> SharedRings::open(int ranks, pid_t maker, int descriptor) {
  std::string path = concat("/proc/", maker, "/fd/", descriptor);
  int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    fail("it cannot open the memory of rank 0, ", path, ": ", strerror(errno),
         "; run all ranks as one user, or choose --transport=gloo");
  auto opened = std::unique_ptr<SharedRings>(new SharedRings(ranks, file));
  struct stat status{};
  if (fstat(file, &status) != 0 || static_cast<size_t>(status.st_size) != allBytes(ranks))
    fail("the memory of rank 0 has ", status.st_size, " bytes, but ", ranks, " ranks share ", allBytes(ranks),
         "; start all ranks with the same binary");
  opened->map();
  opened->closeDescriptor();
  return opened;
}

SharedRings::SharedRings(int ranks, int file) : ranks(ranks), capacity(capacityFor(ranks)), file(file) {}

// New memory is zero, the initial value of all counts.
void SharedRings::map() {
  void *mapped = mmap(nullptr, allBytes(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED)
    fail("the memory that ", ranks, " ranks share, ", allBytes(ranks), " bytes, cannot be mapped: ", strerror(errno));
  memory = static_cast<std::byte *>(mapped);
  states = reinterpret_cast<RankState *>(memory);
  rings = reinterpret_cast<Ring *>(memory + statesBytes(ranks));
  data = memory + statesBytes(ranks) + ringsBytes(ranks);
}

SharedRings::~SharedRings() {
  if (memory)
    munmap(memory, allBytes(ranks));
  closeDescriptor();
}

void SharedRings::closeDescriptor() {
  if (file >= 0)
    ::close(file);
  file = -1;
}
