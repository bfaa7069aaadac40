//===- LtObjects.h - owners of cuBLASLt's objects -------------------------===//
#ifndef BRAID_CUDA_LTOBJECTS_H
#define BRAID_CUDA_LTOBJECTS_H

#include "base/Error.h"

#include <cublasLt.h>

namespace braid {

// Throws Error for anything but success; `where` names the matmul.
inline void checkLt(cublasStatus_t status, const std::string &where, const char *call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(where, ": ", call, ": ", cublasLtGetStatusString(status));
}

template <class Handle, cublasStatus_t (*destroy)(Handle)> class LtObject {
public:
  LtObject() = default;
  ~LtObject() {
    if (handle)
      destroy(handle);
  }
  LtObject(const LtObject &) = delete;
  LtObject &operator=(const LtObject &) = delete;

  operator Handle() const { return handle; }
  Handle *out() { return &handle; }

private:
  Handle handle = nullptr;
};

using LtLibrary = LtObject<cublasLtHandle_t, cublasLtDestroy>;
using LtLayout = LtObject<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using LtOperation = LtObject<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using LtPreference = LtObject<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

template <class T> cublasStatus_t set(const LtLayout &object, cublasLtMatrixLayoutAttribute_t name, T value) {
  return cublasLtMatrixLayoutSetAttribute(object, name, &value, sizeof value);
}
template <class T> cublasStatus_t set(const LtOperation &object, cublasLtMatmulDescAttributes_t name, T value) {
  return cublasLtMatmulDescSetAttribute(object, name, &value, sizeof value);
}
template <class T> cublasStatus_t set(const LtPreference &object, cublasLtMatmulPreferenceAttributes_t name, T value) {
  return cublasLtMatmulPreferenceSetAttribute(object, name, &value, sizeof value);
}

} // namespace braid
#endif // BRAID_CUDA_LTOBJECTS_H
