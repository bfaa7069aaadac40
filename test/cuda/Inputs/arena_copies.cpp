// Copies 16 MiB to a device and back, through buffers of 8 MiB or of what can be pinned; says of how many bytes.
#include "base/Error.h"
#include "cuda/Check.h"
#include "gpu/ArenaCopies.h"

#include <cstdio>

using namespace braid;

int main() {
  constexpr uint64_t bytes = 16 << 20, limit = 8 << 20;
  try {
    GpuStream stream;
    std::byte *arena = nullptr;
    checkCuda(cudaMalloc(reinterpret_cast<void **>(&arena), bytes), "cudaMalloc");
    ArenaCopies copies(arena, bytes, stream, 2, limit);
    std::vector<unsigned> written(bytes / sizeof(unsigned)), read(written.size());
    for (size_t i = 0; i < written.size(); ++i)
      written[i] = static_cast<unsigned>(i) * 2654435761u;
    copies.write(0, written.data(), bytes);
    copies.read(0, read.data(), bytes);
    checkCuda(cudaGetLastError(), "an error is left behind");
    std::printf("%s through buffers of %llu bytes\n", read == written ? "right" : "wrong",
                static_cast<unsigned long long>(copies.bufferBytes()));
    return 0;
  } catch (const Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
