//===- Device.cpp - what a generated program has, for tests of its calls ---===//

#include "Device.h"

void *br_arena(br_context *) { return nullptr; } // tests have pointers
void *br_cuda_stream(br_context *ctx) { return ctx->stream.native(); }
void br_action(br_context *, int32_t) {}
int br_cuda_begins_early(br_context *) { return 0; }
void br_cuda_check(br_context *ctx, int error, const char *what) {
  if (error != cudaSuccess && ctx->error.empty())
    ctx->error = std::string(what) + ": " + cudaGetErrorString(static_cast<cudaError_t>(error));
}
void br_cuda_launched(br_context *ctx, int error, const void *) { br_cuda_check(ctx, error, "a launch"); }
const br_matmul_rest *br_cuda_matmul_rest(br_context *ctx) { return ctx->rest; }
br_status br_cuda_status(br_context *ctx) { return ctx->error.empty() ? BR_OK : BR_ERROR; }
int32_t br_axis_index(br_context *ctx, int32_t) { return ctx->index; }
