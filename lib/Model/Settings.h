//===- Settings.h - the settings of a config.json ---------------*- C++ -*-===//
//
// Reads the settings of one JSON object, checks their types and ranges, and keeps the
// first error.  It tracks which settings were requested. All others may change the model,
// so the end reports them as errors.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_SETTINGS_H
#define BRAID_LIB_MODEL_SETTINGS_H

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace braid {

class Settings {
public:
  Settings(const llvm::json::Object &object, std::string where) : object(object), where(std::move(where)) {}

  /// Read a setting; absent or null settings leave the value unchanged.
  void read(llvm::StringRef key, int64_t &value, int64_t max = 1 << 24, int64_t min = 1);
  void read(llvm::StringRef key, double &value, double min, double below);
  void read(llvm::StringRef key, bool &value);
  /// Reads one number under either of two names; both may be there if they agree.
  void readEither(llvm::StringRef key, llvm::StringRef alias, int64_t &value, int64_t max = 1 << 24);
  /// Reads a number; null means 0: there is none.
  void readOptional(llvm::StringRef key, int64_t &value);
  void readOptional(llvm::StringRef key, double &value, double min, double below);
  /// Reads the Hugging Face name of an activation function, as its op.
  void readActivation(llvm::StringRef key, std::string &op);

  /// Fails unless the setting is absent, null or equal to `expected`.
  void refuseUnless(llvm::StringRef key, const llvm::json::Value &expected);
  /// Accepts any value of these settings.
  void ignore(llvm::ArrayRef<llvm::StringLiteral> keys);

  /// Returns the value of a setting; null if it is absent or null.
  const llvm::json::Value *find(llvm::StringRef key);
  /// Returns whether a setting is present and not null, without marking it as requested.
  bool has(llvm::StringRef key) const;
  bool isNull(llvm::StringRef key) const;

  void check(bool condition, const llvm::Twine &message) {
    if (!condition)
      fail(message);
  }
  void fail(const llvm::Twine &message) {
    if (error.empty())
      error = (where + ": " + message).str();
  }

  /// Returns the first error, or an error that lists settings nothing requested.
  llvm::Error finish();
  /// Finishes settings nested in this object, and takes over their error.
  void finish(Settings &inner) {
    if (llvm::Error problem = inner.finish()) {
      std::string text = toString(std::move(problem));
      error = error.empty() ? text : error;
    }
  }

  /// Returns the prefix of messages: the file, and the setting whose value the object is.
  const std::string &place() const { return where; }
  static std::string text(const llvm::json::Value &value);

private:
  const llvm::json::Object &object;
  std::string where, error;
  llvm::StringSet<> known;
};

} // namespace braid

#endif // BRAID_LIB_MODEL_SETTINGS_H
