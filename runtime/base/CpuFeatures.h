//===- CpuFeatures.h - checks the processor's features --------------------===//
#ifndef BRAID_BASE_CPUFEATURES_H
#define BRAID_BASE_CPUFEATURES_H

#include <string>

namespace braid {

// Throws Error when the processor lacks one of the space-separated features
// (names as in -m options: "avx512f avx2 fma").
void checkCpuFeatures(const std::string &features);

} // namespace braid
#endif // BRAID_BASE_CPUFEATURES_H
