//===- Fingerprint.h - fingerprint of data files --------------------------===//
#ifndef BRAID_DATA_FINGERPRINT_H
#define BRAID_DATA_FINGERPRINT_H

#include "data/DataFiles.h"

#include <string>

namespace braid {

// Returns a text such as "20000 bytes, sample 8a3c5b7e9f102d46": the size, and a hash of 64 blocks of 4
// KiB, evenly spaced from the start to the end (of the whole file if it is smaller). Reads only these
// blocks, so a change elsewhere is not detected.
std::string fingerprintOf(const std::string &path);

// Returns the fingerprint of all files in reading order, with their weights: "3 files, 60000 bytes, sample
// 8a3c5b7e9f102d46". For one file, this is the file's fingerprint.
std::string fingerprintOf(const DataFiles &data);

} // namespace braid
#endif // BRAID_DATA_FINGERPRINT_H
