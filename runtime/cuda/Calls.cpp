//===- Calls.cpp - calls from generated CUDA programs ---------------------===//

#include "cuda/braid_cuda.h"
#include "gpu/GpuContext.h"
#include "gpu/MatmulProbe.h"
#include "gpu/Vendor.h"

using namespace braid;

static GpuContext &contextOf(br_context *ctx) { return static_cast<GpuContext &>(*ctx); }

void br_use_cuda(void) {
  const ContextFactory make = [](const br_model &model, int threads, const Rank &rank) -> std::unique_ptr<br_context> {
    return std::make_unique<GpuContext>(model, threads, rank);
  };
  registerTarget(vendor.target, make, listGpuMatmuls);
}

void *br_cuda_stream(br_context *ctx) { return contextOf(ctx).stream().native(); }
void br_cuda_check(br_context *ctx, int error, const char *call) { contextOf(ctx).called({error, call}); }
void br_cuda_launched(br_context *ctx, int error, const void *kernel) { contextOf(ctx).launched(error, kernel); }
int br_cuda_begins_early(br_context *ctx) { return contextOf(ctx).beginsEarly(); }
const br_matmul_rest *br_cuda_matmul_rest(br_context *ctx) { return contextOf(ctx).matmulRest(); }
br_status br_cuda_status(br_context *ctx) { return contextOf(ctx).status(); }
