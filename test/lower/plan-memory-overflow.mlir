// The planner adds up bytes, so their sum is checked before; types that memory cannot hold are
// refused, whether anything reads them or not.
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics --exec-plan-memory

// 32 tensors of 2^55 bytes are 2^60 bytes.
// expected-error @below {{the tensors of 'sum' have more than 2^60 bytes together, the limit of the planner; make the batch or the model smaller}}
func.func @sum(%0: tensor<4503599627370496x2xf32>, %1: tensor<4503599627370496x2xf32>, %2: tensor<4503599627370496x2xf32>,
               %3: tensor<4503599627370496x2xf32>, %4: tensor<4503599627370496x2xf32>, %5: tensor<4503599627370496x2xf32>,
               %6: tensor<4503599627370496x2xf32>, %7: tensor<4503599627370496x2xf32>, %8: tensor<4503599627370496x2xf32>,
               %9: tensor<4503599627370496x2xf32>, %a: tensor<4503599627370496x2xf32>, %b: tensor<4503599627370496x2xf32>,
               %c: tensor<4503599627370496x2xf32>, %d: tensor<4503599627370496x2xf32>, %e: tensor<4503599627370496x2xf32>,
               %f: tensor<4503599627370496x2xf32>, %g: tensor<4503599627370496x2xf32>, %h: tensor<4503599627370496x2xf32>,
               %i: tensor<4503599627370496x2xf32>, %j: tensor<4503599627370496x2xf32>, %k: tensor<4503599627370496x2xf32>,
               %l: tensor<4503599627370496x2xf32>, %m: tensor<4503599627370496x2xf32>, %n: tensor<4503599627370496x2xf32>,
               %o: tensor<4503599627370496x2xf32>, %p: tensor<4503599627370496x2xf32>, %q: tensor<4503599627370496x2xf32>,
               %r: tensor<4503599627370496x2xf32>, %s: tensor<4503599627370496x2xf32>, %t: tensor<4503599627370496x2xf32>,
               %u: tensor<4503599627370496x2xf32>, %v: tensor<4503599627370496x2xf32>, %w: tensor<1xf32>) {
  return
}

// -----

// expected-error @below {{argument #0 of type 'tensor<4294967296x4294967296xf32>' has more than 2^53 elements}}
func.func @product(%x: tensor<4294967296x4294967296xf32>) {
  return
}

// -----

// expected-error @below {{argument #0 of type 'tensor<?xf32>' has no extent in dim 0}}
func.func @unread(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error @below {{argument #0 of type 'tensor<*xf32>' has no rank}}
func.func @unranked(%x: tensor<*xf32>) {
  return
}

// -----

// expected-error @below {{argument #0 of type 'f32' is not a tensor}}
func.func @scalar(%x: f32) {
  return
}
