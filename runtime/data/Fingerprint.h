//===- Fingerprint.h - what tells a data file from another ----------------===//
#ifndef BRAID_DATA_FINGERPRINT_H
#define BRAID_DATA_FINGERPRINT_H

#include "data/DataFiles.h"

#include <string>

namespace braid {

// "20000 bytes, sample 8a3c5b7e9f102d46": the size, and a hash of 64 blocks of 4 KiB at places
// that the size determines, from the first to the last (of all of a file that has no more).
// Reads no more than these, so a change elsewhere goes unnoticed.
std::string fingerprintOf(const std::string &path);

// The same of all files, in the order in which they are read, with their weights: "3 files,
// 60000 bytes, sample 8a3c5b7e9f102d46".  Of one file it is that file's.
std::string fingerprintOf(const DataFiles &data);

} // namespace braid
#endif // BRAID_DATA_FINGERPRINT_H
