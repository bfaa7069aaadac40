//===- NcclMemory.cpp - memory that NCCL gives, and that it registers -----===//
#include "Allocations.h"
#include "NcclExchange.h"
#include "Queues.h"
#include "Violation.h"

#include <set>

using namespace shim;

namespace {
// Memory of ncclMemAlloc, and the memory that is registered with each communicator.
std::set<void *> &memoryOfNccl() {
  static auto *all = new std::set<void *>;
  return *all;
}
std::set<std::pair<ncclComm_t, void *>> &registrations() {
  static auto *all = new std::set<std::pair<ncclComm_t, void *>>;
  return *all;
}
} // namespace

void shim::refuseRegistered(const char *call, ncclComm_t comm) {
  for (auto &[owner, memory] : registrations())
    if (owner == comm)
      violation(format("%s of a communicator with which memory is registered: call ncclCommDeregister first", call),
                false);
}

void shim::forgetRegistrations(ncclComm_t comm) {
  std::erase_if(registrations(), [&](const auto &entry) { return entry.first == comm; });
}

ncclResult_t ncclMemAlloc(void **memory, size_t bytes) {
  FAIL_IF_TOLD_NCCL(ncclMemAlloc);
  if (cudaMalloc(memory, bytes) != cudaSuccess)
    return failedNccl(ncclUnhandledCudaError, "out of memory");
  Lock lock(queuesMutex);
  memoryOfNccl().insert(*memory);
  return ncclSuccess;
}

ncclResult_t ncclMemFree(void *memory) {
  {
    Lock lock(queuesMutex);
    if (!memoryOfNccl().erase(memory))
      violation("ncclMemFree of memory that ncclMemAlloc has not given", false);
    Allocation *allocation = findAllocation(memory);
    for (auto &[comm, handle] : registrations())
      if (allocation && allocation->holds(handle, 1))
        violation("ncclMemFree of memory that is registered with a communicator: call ncclCommDeregister first", false);
  }
  return cudaFree(memory) == cudaSuccess ? ncclSuccess : failedNccl(ncclUnhandledCudaError, "cudaFree failed");
}

ncclResult_t ncclCommRegister(ncclComm_t comm, void *memory, size_t bytes, void **handle) {
  FAIL_IF_TOLD_NCCL(ncclCommRegister);
  Allocation *allocation = findAllocation(memory);
  if (!allocation || !allocation->holds(memory, bytes) || allocation->device != comm->device)
    return failedNccl(ncclInvalidArgument, "this is no memory of the communicator's device");
  Lock lock(queuesMutex);
  registrations().insert({comm, memory});
  *handle = memory;
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(ncclComm_t comm, void *handle) {
  Lock lock(queuesMutex);
  if (!registrations().erase({comm, handle}))
    violation("ncclCommDeregister of what is not registered with the communicator", false);
  return ncclSuccess;
}
