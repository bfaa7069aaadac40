//===- KernelNames.h - names of functions by address ----------------------===//
#ifndef BRAID_SHIM_KERNELNAMES_H
#define BRAID_SHIM_KERNELNAMES_H

namespace shim {

// The name of the function of this program, without its parameters; never freed.
const char *kernelName(const void *function);

} // namespace shim
#endif // BRAID_SHIM_KERNELNAMES_H
