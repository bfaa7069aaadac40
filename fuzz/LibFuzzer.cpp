//===- LibFuzzer.cpp - readers of the runtime under coverage guidance -----===//
//
// One program for each reader, in this process: libFuzzer keeps the inputs that reach new code, and mutates them with
// Mutate.h. Built by -DBRAID_LIBFUZZER=ON with Clang.
//
//===----------------------------------------------------------------------===//

#include "base/Error.h"
#include "base/Safetensors.h"
#include "comm/StoreClient.h"
#include "data/TokenFile.h"
#include "data/TokenTable.h"
#include "fuzz/Mutate.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace braid;

namespace {

/// A file in memory that readers open by its path.
class MemoryFile {
public:
  MemoryFile(const uint8_t *data, size_t size) : number(memfd_create("input", 0)) {
    if (write(number, data, size) != static_cast<ssize_t>(size))
      std::abort();
  }
  ~MemoryFile() { close(number); }
  MemoryFile(const MemoryFile &) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(number); }

private:
  int number;
};

} // namespace

[[maybe_unused]] static void readSafetensors(const uint8_t *data, size_t size) {
  MemoryFile input(data, size);
  SafetensorsFile file(input.path());
  std::string bytes;
  for (const TensorEntry &entry : file.entries()) { // all of it is there
    bytes.resize(entry.end - entry.begin);
    file.read(entry, 0, bytes.data(), bytes.size());
  }
}

[[maybe_unused]] static void readTokens(const uint8_t *data, size_t size) {
  MemoryFile input(data, size);
  TokenFile file(input.path(), 256);
  std::vector<int32_t> tokens(std::min<int64_t>(file.count(), 4096));
  file.read(0, static_cast<int64_t>(tokens.size()), tokens.data());
  file.mask(0, static_cast<int64_t>(tokens.size()), -100, tokens.data());
  if (auto table = TokenTable::read(input.path()))
    for (int64_t token = -1; token <= table->vocabulary(); ++token)
      table->textOf(token);
}

[[maybe_unused]] static void readStoreMessages(const uint8_t *data, size_t size) {
  StoreLimits limits;
  limits.bytes = 1 << 20;
  StoreTable table(limits);
  JobToken none;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
    return;
  Socket other(ends[1]);
  StoreClient client(Socket(ends[0]), none, table, limits);
  char answers[4096];
  for (size_t at = 0; at < size;) {
    ssize_t sent = send(other.get(), data + at, std::min<size_t>(size - at, 4096), MSG_NOSIGNAL);
    at += sent > 0 ? sent : 0;
    for (int turns = 0; turns < 4; ++turns)
      if (!client.serve(POLLIN | POLLOUT))
        return;
    while (recv(other.get(), answers, sizeof answers, 0) > 0) {
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    BRAID_FUZZ_READER(data, size);
  } catch (const Error &error) {
    if (std::strlen(error.what()) == 0)
      std::abort(); // a refusal says why
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  fuzz::Random random(seed);
  std::string bytes(reinterpret_cast<char *>(data), size);
  fuzz::Pool pool;
  pool.add(bytes);
  bytes = random.oneIn(3)   ? fuzz::mutateBytes(random, bytes)
          : random.oneIn(2) ? fuzz::mutateNumbers(random, bytes, 8, bytes.size())
                            : fuzz::mutateSafetensors(random, bytes, pool);
  size = std::min(bytes.size(), most);
  std::memcpy(data, bytes.data(), size);
  return size;
}
