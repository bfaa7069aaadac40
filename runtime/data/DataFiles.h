//===- DataFiles.h - which files --data names -----------------------------===//
//
// What --data lists: files and folders, each with a weight or none of them.  A folder
// stands for its data files in the order of their names.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_DATA_DATAFILES_H
#define BRAID_DATA_DATAFILES_H

#include <string>
#include <vector>

namespace braid {

// How files are read that do not say themselves what they are.
enum class DataFormat {
  Auto,    // as text, if that is what they look like
  Bytes,   // a token a byte, whatever else they look like
  NanoGpt, // unsigned ids of two bytes, without a header
};

// Files that are read one behind the other.
struct DataGroup {
  std::vector<std::string> paths;
  double weight; // its share of the rows, relative to that of other groups
};

// Without weights all files are one group.
struct DataFiles {
  std::vector<DataGroup> groups;
  DataFormat format = DataFormat::Auto;

  bool isWeighted() const { return groups.size() > 1; }
};

// From texts like "a.tok", "folder" and "b.tok:0.7".  Throws Error where there is no such
// file, and where some have a weight and others none.
DataFiles findData(const std::vector<std::string> &texts, DataFormat format);

// The only file; throws Error, with `why`, where there are several.
const std::string &onlyFile(const DataFiles &data, const char *why);

} // namespace braid
#endif // BRAID_DATA_DATAFILES_H
