//===- nvToolsExt.h - named ranges that nobody looks at -------------------===//
#ifndef BRAID_SHIM_NVTOOLSEXT_H
#define BRAID_SHIM_NVTOOLSEXT_H

inline int nvtxRangePushA(const char *) { return 0; }
inline int nvtxRangePop() { return 0; }
inline void nvtxMarkA(const char *) {}

#endif // BRAID_SHIM_NVTOOLSEXT_H
