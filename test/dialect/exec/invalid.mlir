// What the verifiers of exec refuse.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

func.func @view_outside(%x: tensor<4x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{reads elements 0 to 63 but its source 'tensor<4x8xf32>' has 32}}
  %a = exec.view %x offset 0 strides [8, 1] : tensor<4x8xf32> -> tensor<8x8xf32>
  return %a : tensor<8x8xf32>
}

// -----

func.func @matmul_shape(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> tensor<8x16xf32> {
  // expected-error @+1 {{writes 'tensor<8x16xf32>' but its operands make 'tensor<4x16xf32>'}}
  %a = exec.matmul "bd,fd->bf" (%x, %w) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<8x16xf32>
  return %a : tensor<8x16xf32>
}

// -----

func.func @matmul_bias(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<4x16xf32> {
  // expected-error @+1 {{bias 'tensor<8xf32>' does not fit the last dim of 'tensor<4x16xf32>'}}
  %a = exec.matmul "bd,fd->bf" (%x, %w bias %b : tensor<8xf32>) : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  return %a : tensor<4x16xf32>
}

// -----

func.func @concat_length(%x: tensor<4x8xf32>) -> tensor<4x20xf32> {
  // expected-error @+1 {{operands are 16 long along dim 1 but the result is 'tensor<4x20xf32>'}}
  %a = exec.concat %x, %x dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x20xf32>
  return %a : tensor<4x20xf32>
}

// -----

func.func @kernel_dims(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{has a loop of size 4 over dim 0 of space [2, 8]}}
  %y = exec.kernel "k"(%x) space [2, 8] : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %e = tensor.empty() : tensor<4x8xf32>
    // expected-note @+1 {{here: linalg.generic}}
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
        ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
    ^bb0(%u: f32, %o: f32):
      linalg.yield %u : f32
    } -> tensor<4x8xf32>
    exec.yield %r : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}

// -----

// A value made at (i, j) is read at (j, i).
func.func @other_lane(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{reads a value at another row or lane than the loop that computes it}}
  %y = exec.kernel "k"(%x) space [4, 4] : (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    %e = tensor.empty() : tensor<4x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
        ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%u: f32, %o: f32):
      linalg.yield %u : f32
    } -> tensor<4x4xf32>
    // expected-note @+1 {{here: linalg.generic}}
    %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
        ins(%r : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
    ^bb0(%u: f32, %o: f32):
      linalg.yield %u : f32
    } -> tensor<4x4xf32>
    exec.yield %t : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

// -----

// A sum over rows is complete only when the kernel is.
func.func @reads_row_sum(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{reads a sum over rows}}
  %y = exec.kernel "k"(%x) space [4, 8] : (tensor<4x8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                         iterator_types = ["reduction", "parallel"], exec.dims = array<i64: 0, 1>}
        ins(%a : tensor<4x8xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%u: f32, %o: f32):
      %n = arith.addf %u, %o : f32
      linalg.yield %n : f32
    } -> tensor<8xf32>
    // expected-note @+1 {{here: linalg.generic}}
    %t = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>],
                         iterator_types = ["parallel"], exec.dims = array<i64: 1>}
        ins(%s : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%u: f32, %o: f32):
      linalg.yield %u : f32
    } -> tensor<8xf32>
    exec.yield %t : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

// A reduction must combine with one of the known ops.
func.func @odd_reduction(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{needs reductions of the form combine(x, out) from a linalg.fill}}
  %y = exec.kernel "k"(%x) space [4, 8] : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %e = tensor.empty() : tensor<4xf32>
    // expected-note @+1 {{here: linalg.generic}}
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"], exec.dims = array<i64: 0, 1>}
        ins(%a : tensor<4x8xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%u: f32, %o: f32):
      %n = arith.mulf %u, %o : f32
      linalg.yield %n : f32
    } -> tensor<4xf32>
    exec.yield %s : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{has the category activations, but lives across programs: expected parameters, gradients, optimizer_state or caches}}
exec.tensor @w at 0 bytes 16 category activations : tensor<4xf32> = #tg.param<"w", #tg.init<zeros>>
