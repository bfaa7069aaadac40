//===- Vendor.h - names of a GPU vendor's libraries -----------------------===//
//
// runtime/gpu has the part of a GPU target that is the same for every vendor.  A vendor's folder
// (runtime/cuda) defines, with the vendor's libraries, what these headers declare and no .cpp file
// here defines; the linker joins them, so a call costs a function call:
//
//   Vendor.h             names, for messages and files
//   Status.h             results of calls
//   Streams.h            streams, events, copies
//   Memory.h             memory of the device, pinned memory of the host
//   Graph.h              work captured once and replayed
//   Device.h             the GPU of a rank
//   Gemm.h               a call of the GEMM library
//   Attention.h          calls of the attention library
//   CollectiveLibrary.h  collectives between GPUs (registered, as not every program is linked with them)
//
// The folder also has the C functions that the vendor's generated code calls (cuda/braid_cuda.h),
// which forward to GpuContext, and the headers of generated kernels.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_GPU_VENDOR_H
#define BRAID_GPU_VENDOR_H

namespace braid {

struct Vendor {
  const char *runtime;        // "CUDA"
  const char *gemm;           // "cuBLASLt"
  const char *gemmKey;        // "cublaslt", the key of the GEMM library's version in files
  const char *attention;      // "cuDNN"
  const char *collectives;    // "NCCL"
  const char *transport;      // "nccl", the name of `collectives` as a transport
  const char *target;         // "cuda", the name of the target
  const char *visibleDevices; // environment variable that hides devices from a process
};
extern const Vendor vendor;

} // namespace braid
#endif // BRAID_GPU_VENDOR_H
