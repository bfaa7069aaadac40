//===- KernelNames.h - names of functions by address ----------------------===//
#ifndef BRAID_SHIM_KERNELNAMES_H
#define BRAID_SHIM_KERNELNAMES_H

namespace shim {

// Returns the name of a function of this program, without parameters. The text is never freed.
const char *kernelName(const void *function);

} // namespace shim
#endif // BRAID_SHIM_KERNELNAMES_H
