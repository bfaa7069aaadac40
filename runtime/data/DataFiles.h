//===- DataFiles.h - the files in --data ----------------------------------===//
//
// --data lists files and folders, with weights for all or for none. A folder stands for its data files,
// sorted by name.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_DATAFILES_H
#define BRAID_DATA_DATAFILES_H

#include "cli/Value.h"

#include <string>
#include <vector>

namespace braid {

// Format of files that have no format marker of their own.
enum class DataFormat {
  Auto,    // text, if the contents look like text
  Bytes,   // one token per byte, whatever the contents look like
  NanoGpt, // unsigned 2-byte ids, without a header
};
template <>
inline constexpr cli::Word cli::words<DataFormat>[] = {{"auto", "text without NUL, for a vocabulary of 256"},
                                                       {"bytes", "one token per byte"},
                                                       {"nanogpt", "ids of 2 bytes, without a header"}};

// Files that are read one after another.
struct DataGroup {
  std::vector<std::string> paths;
  double weight; // share of the rows, relative to other groups
};

// Without weights, all files are one group.
struct DataFiles {
  std::vector<DataGroup> groups;
  DataFormat format = DataFormat::Auto;

  bool isWeighted() const { return groups.size() > 1; }
};

// Parses texts such as "a.tok", "folder" and "b.tok:0.7". Throws Error if a file does not exist, or if only
// some have a weight.
DataFiles findData(const std::vector<std::string> &texts, DataFormat format);

// Returns the only file. If there are several, throws an Error that contains `reason`.
const std::string &onlyFile(const DataFiles &data, const char *reason);

} // namespace braid
#endif // BRAID_DATA_DATAFILES_H
