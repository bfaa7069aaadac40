// Ends a communicator and its memory in the right order, or in one that NCCL does not allow.
#include <cstring>
#include <nccl.h>

int main(int, char **argv) {
  const auto is = [&](const char *name) { return !std::strcmp(argv[1], name); };
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  void *memory = nullptr, *other = nullptr, *handle = nullptr;
  ncclGetUniqueId(&id);
  ncclCommInitRank(&comm, 1, id, 0);
  ncclMemAlloc(&memory, 4096);
  cudaMalloc(&other, 4096);
  ncclCommRegister(comm, memory, 4096, &handle);
  if (is("free-registered"))
    ncclMemFree(memory);
  if (is("finalize-registered"))
    ncclCommFinalize(comm);
  if (is("free-other"))
    ncclMemFree(other);
  ncclCommDeregister(comm, handle);
  if (is("deregister-twice"))
    ncclCommDeregister(comm, handle);
  ncclMemFree(memory);
  if (is("register-freed"))
    return ncclCommRegister(comm, memory, 4096, &handle) == ncclInvalidArgument ? 2 : 0;
  ncclCommFinalize(comm);
  return 0;
}
