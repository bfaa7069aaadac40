//===- Features.h - instruction sets of a translation unit ----------------===//
//
// BRAID_CPU_FEATURES names the instruction sets that the compiler options enable in this translation unit,
// spelled as in -m options. A program contains the list and checks it at start.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_CPU_FEATURES_H
#define BRAID_CPU_FEATURES_H

#ifdef __AVX__
#define BRAID_FEATURE_AVX "avx "
#else
#define BRAID_FEATURE_AVX
#endif
#ifdef __AVX2__
#define BRAID_FEATURE_AVX2 "avx2 "
#else
#define BRAID_FEATURE_AVX2
#endif
#ifdef __FMA__
#define BRAID_FEATURE_FMA "fma "
#else
#define BRAID_FEATURE_FMA
#endif
#ifdef __BMI2__
#define BRAID_FEATURE_BMI2 "bmi2 "
#else
#define BRAID_FEATURE_BMI2
#endif
#ifdef __AVX512F__
#define BRAID_FEATURE_AVX512F "avx512f "
#else
#define BRAID_FEATURE_AVX512F
#endif
#ifdef __AVX512BW__
#define BRAID_FEATURE_AVX512BW "avx512bw "
#else
#define BRAID_FEATURE_AVX512BW
#endif
#ifdef __AVX512VL__
#define BRAID_FEATURE_AVX512VL "avx512vl "
#else
#define BRAID_FEATURE_AVX512VL
#endif
#ifdef __AVX512DQ__
#define BRAID_FEATURE_AVX512DQ "avx512dq "
#else
#define BRAID_FEATURE_AVX512DQ
#endif
#ifdef __AVX512FP16__
#define BRAID_FEATURE_AVX512FP16 "avx512fp16 "
#else
#define BRAID_FEATURE_AVX512FP16
#endif
#ifdef __AVX512BF16__
#define BRAID_FEATURE_AVX512BF16 "avx512_bf16 "
#else
#define BRAID_FEATURE_AVX512BF16
#endif

#define BRAID_CPU_FEATURES                                                                                             \
  BRAID_FEATURE_AVX BRAID_FEATURE_AVX2 BRAID_FEATURE_FMA BRAID_FEATURE_BMI2 BRAID_FEATURE_AVX512F                      \
      BRAID_FEATURE_AVX512BW BRAID_FEATURE_AVX512VL BRAID_FEATURE_AVX512DQ                                             \
          BRAID_FEATURE_AVX512FP16 BRAID_FEATURE_AVX512BF16 ""

#endif // BRAID_CPU_FEATURES_H
