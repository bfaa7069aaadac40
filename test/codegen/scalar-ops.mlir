// Every op of the table, on lanes and on row values, against the interpreter.
// RUN: braidc %s -o %t.exe
// RUN: %t.exe run --program run_lanes --outputs %t.st && braid-interp %s --function=run_lanes --inputs=%t.st --expect=%t.st
// RUN: %t.exe run --program run_rows --outputs %t.st && braid-interp %s --function=run_rows --inputs=%t.st --expect=%t.st
// RUN: braidc %s -o %t.exe --cpu=x86-64
// RUN: %t.exe run --program run_lanes --outputs %t.st && braid-interp %s --function=run_lanes --inputs=%t.st --expect=%t.st

exec.kernel_def @lanes space [3, 20] layouts [!exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>] ties [-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1] {
^bb0(%x: tensor<3x20xf32>, %y: tensor<3x20xf32>, %ip: tensor<3x20xi32>, %iq: tensor<3x20xi32>):
  %half = arith.constant 0.5 : f32
  %ten = arith.constant 10.0 : f32
  %one = arith.constant 1 : i32
  %e_f32 = tensor.empty() : tensor<3x20xf32>
  %e_i32 = tensor.empty() : tensor<3x20xi32>
  %e_i1 = tensor.empty() : tensor<3x20xi1>
  %v0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.maximumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.minimumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.maxnumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.minnumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.floor %a : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.ceil %a : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.exp2 %a : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.tanh %a : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.erf %a : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.sin %a : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.cos %a : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v18 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = math.absf %a : f32
    %w = arith.addf %q, %half : f32
    %r = math.sqrt %w : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v19 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = math.absf %a : f32
    %w = arith.addf %q, %half : f32
    %r = math.rsqrt %w : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v20 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = math.absf %a : f32
    %w = arith.addf %q, %half : f32
    %r = math.log %w : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v21 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = math.absf %a : f32
    %w = arith.addf %q, %half : f32
    %r = math.log1p %w : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v22 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = math.absf %a : f32
    %w = arith.addf %q, %half : f32
    %r = math.powf %w, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v23 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.fma %a, %b, %half : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v24 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.copysign %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v25 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.addi %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v26 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.subi %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v27 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.muli %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v28 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.andi %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v29 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.ori %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v30 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.xori %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v31 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.maxsi %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v32 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.minsi %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v33 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %q = math.absi %j : i32
    %w = arith.addi %q, %one : i32
    %r = arith.divsi %i, %w : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v34 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %q = math.absi %j : i32
    %w = arith.addi %q, %one : i32
    %r = arith.remsi %i, %w : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v35 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %n = arith.negf %a : f32
    %w = arith.constant 3 : i32
    %r = arith.shli %i, %w : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v36 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %n = arith.negf %a : f32
    %w = arith.constant 3 : i32
    %r = arith.shrsi %i, %w : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v37 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf oeq, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v38 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ogt, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v39 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf oge, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v40 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf olt, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v41 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ole, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v42 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf one, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v43 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ord, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v44 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ueq, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v45 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ugt, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v46 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf uge, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v47 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ult, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v48 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ule, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v49 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf une, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v50 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf uno, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v51 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi eq, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v52 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi ne, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v53 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi slt, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v54 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi sle, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v55 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi sgt, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v56 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi sge, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v57 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %r = arith.select %c, %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v58 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %c = arith.cmpf ogt, %a, %b : f32
    %d = arith.cmpi eq, %i, %j : i32
    %e = arith.xori %c, %d : i1
    %r = arith.select %e, %d, %c : i1
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v59 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.sitofp %i : i32 to f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v60 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %q = arith.mulf %a, %ten : f32
    %r = arith.fptosi %q : f32 to i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v61 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %c = arith.cmpf ogt, %a, %b : f32
    %r = arith.uitofp %c : i1 to f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  %v62 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i32 : tensor<3x20xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    linalg.yield %r : i32
  } -> tensor<3x20xi32>
  %v63 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_i1 : tensor<3x20xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.trunci %i : i32 to i1
    linalg.yield %r : i1
  } -> tensor<3x20xi1>
  %v64 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"], exec.dims = array<i64: 0, 1>}
      ins(%x, %y, %ip, %iq : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>) outs(%e_f32 : tensor<3x20xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = arith.truncf %a : f32 to bf16
    %r = arith.extf %q : bf16 to f32
    linalg.yield %r : f32
  } -> tensor<3x20xf32>
  exec.yield %v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9, %v10, %v11, %v12, %v13, %v14, %v15, %v16, %v17, %v18, %v19, %v20, %v21, %v22, %v23, %v24, %v25, %v26, %v27, %v28, %v29, %v30, %v31, %v32, %v33, %v34, %v35, %v36, %v37, %v38, %v39, %v40, %v41, %v42, %v43, %v44, %v45, %v46, %v47, %v48, %v49, %v50, %v51, %v52, %v53, %v54, %v55, %v56, %v57, %v58, %v59, %v60, %v61, %v62, %v63, %v64 : tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi32>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi1>, tensor<3x20xi32>, tensor<3x20xi1>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xf32>, tensor<3x20xi32>, tensor<3x20xi1>, tensor<3x20xf32>
}
exec.kernel_def @rows space [5, 1] layouts [!exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xf32, [1]>] ties [-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1] {
^bb0(%x: tensor<5xf32>, %y: tensor<5xf32>, %ip: tensor<5xi32>, %iq: tensor<5xi32>):
  %half = arith.constant 0.5 : f32
  %ten = arith.constant 10.0 : f32
  %one = arith.constant 1 : i32
  %e_f32 = tensor.empty() : tensor<5xf32>
  %e_i32 = tensor.empty() : tensor<5xi32>
  %e_i1 = tensor.empty() : tensor<5xi1>
  %v0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.maximumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v5 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.minimumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.maxnumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v7 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.minnumf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v9 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.floor %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v11 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.ceil %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v13 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.exp2 %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v14 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.tanh %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v15 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.erf %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v16 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.sin %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v17 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.cos %a : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v18 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = math.absf %a : f32
    %w = arith.addf %q, %half : f32
    %r = math.sqrt %w : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v19 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = math.absf %a : f32
    %w = arith.addf %q, %half : f32
    %r = math.rsqrt %w : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v20 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = math.absf %a : f32
    %w = arith.addf %q, %half : f32
    %r = math.log %w : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v21 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = math.absf %a : f32
    %w = arith.addf %q, %half : f32
    %r = math.log1p %w : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v22 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = math.absf %a : f32
    %w = arith.addf %q, %half : f32
    %r = math.powf %w, %b : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v23 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.fma %a, %b, %half : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v24 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = math.copysign %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v25 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.addi %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v26 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.subi %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v27 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.muli %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v28 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.andi %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v29 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.ori %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v30 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.xori %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v31 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.maxsi %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v32 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %r = arith.minsi %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v33 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %q = math.absi %j : i32
    %w = arith.addi %q, %one : i32
    %r = arith.divsi %i, %w : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v34 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %q = math.absi %j : i32
    %w = arith.addi %q, %one : i32
    %r = arith.remsi %i, %w : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v35 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %n = arith.negf %a : f32
    %w = arith.constant 3 : i32
    %r = arith.shli %i, %w : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v36 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %n = arith.negf %a : f32
    %w = arith.constant 3 : i32
    %r = arith.shrsi %i, %w : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v37 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf oeq, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v38 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ogt, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v39 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf oge, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v40 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf olt, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v41 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ole, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v42 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf one, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v43 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ord, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v44 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ueq, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v45 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ugt, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v46 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf uge, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v47 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ult, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v48 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf ule, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v49 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf une, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v50 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpf uno, %a, %b : f32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v51 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi eq, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v52 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi ne, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v53 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi slt, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v54 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi sle, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v55 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi sgt, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v56 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.cmpi sge, %i, %j : i32
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v57 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %r = arith.select %c, %i, %j : i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v58 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %c = arith.cmpf ogt, %a, %b : f32
    %d = arith.cmpi eq, %i, %j : i32
    %e = arith.xori %c, %d : i1
    %r = arith.select %e, %d, %c : i1
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v59 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %r = arith.sitofp %i : i32 to f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v60 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %q = arith.mulf %a, %ten : f32
    %r = arith.fptosi %q : f32 to i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v61 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %c = arith.cmpf ogt, %a, %b : f32
    %r = arith.uitofp %c : i1 to f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  %v62 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i32 : tensor<5xi32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %r = arith.extui %c : i1 to i32
    linalg.yield %r : i32
  } -> tensor<5xi32>
  %v63 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_i1 : tensor<5xi1>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: i1):
    %r = arith.trunci %i : i32 to i1
    linalg.yield %r : i1
  } -> tensor<5xi1>
  %v64 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"], exec.dims = array<i64: 0>}
      ins(%x, %y, %ip, %iq : tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) outs(%e_f32 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %i: i32, %j: i32, %old: f32):
    %q = arith.truncf %a : f32 to bf16
    %r = arith.extf %q : bf16 to f32
    linalg.yield %r : f32
  } -> tensor<5xf32>
  exec.yield %v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7, %v8, %v9, %v10, %v11, %v12, %v13, %v14, %v15, %v16, %v17, %v18, %v19, %v20, %v21, %v22, %v23, %v24, %v25, %v26, %v27, %v28, %v29, %v30, %v31, %v32, %v33, %v34, %v35, %v36, %v37, %v38, %v39, %v40, %v41, %v42, %v43, %v44, %v45, %v46, %v47, %v48, %v49, %v50, %v51, %v52, %v53, %v54, %v55, %v56, %v57, %v58, %v59, %v60, %v61, %v62, %v63, %v64 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi32>, tensor<5xi1>, tensor<5xf32>, tensor<5xi32>, tensor<5xf32>, tensor<5xi32>, tensor<5xi1>, tensor<5xf32>
}
exec.program @run_lanes arena 131072 {
  exec.buffer @in0 at 32768 bytes 256 live -1 to 0 category inputs name "x0" "input" role "x0" : tensor<3x20xf32>
  exec.buffer @in1 at 33024 bytes 256 live -1 to 0 category inputs name "x1" "input" role "x1" : tensor<3x20xf32>
  exec.buffer @in2 at 33280 bytes 256 live -1 to 0 category inputs name "x2" "input" role "x2" : tensor<3x20xi32>
  exec.buffer @in3 at 33536 bytes 256 live -1 to 0 category inputs name "x3" "input" role "x3" : tensor<3x20xi32>
  exec.buffer @out0 at 33792 bytes 256 live 0 to 1 category activations name "y0" "result" role "y0" : tensor<3x20xf32>
  exec.buffer @out1 at 34048 bytes 256 live 0 to 1 category activations name "y1" "result" role "y1" : tensor<3x20xf32>
  exec.buffer @out2 at 34304 bytes 256 live 0 to 1 category activations name "y2" "result" role "y2" : tensor<3x20xf32>
  exec.buffer @out3 at 34560 bytes 256 live 0 to 1 category activations name "y3" "result" role "y3" : tensor<3x20xf32>
  exec.buffer @out4 at 34816 bytes 256 live 0 to 1 category activations name "y4" "result" role "y4" : tensor<3x20xf32>
  exec.buffer @out5 at 35072 bytes 256 live 0 to 1 category activations name "y5" "result" role "y5" : tensor<3x20xf32>
  exec.buffer @out6 at 35328 bytes 256 live 0 to 1 category activations name "y6" "result" role "y6" : tensor<3x20xf32>
  exec.buffer @out7 at 35584 bytes 256 live 0 to 1 category activations name "y7" "result" role "y7" : tensor<3x20xf32>
  exec.buffer @out8 at 35840 bytes 256 live 0 to 1 category activations name "y8" "result" role "y8" : tensor<3x20xf32>
  exec.buffer @out9 at 36096 bytes 256 live 0 to 1 category activations name "y9" "result" role "y9" : tensor<3x20xf32>
  exec.buffer @out10 at 36352 bytes 256 live 0 to 1 category activations name "y10" "result" role "y10" : tensor<3x20xf32>
  exec.buffer @out11 at 36608 bytes 256 live 0 to 1 category activations name "y11" "result" role "y11" : tensor<3x20xf32>
  exec.buffer @out12 at 36864 bytes 256 live 0 to 1 category activations name "y12" "result" role "y12" : tensor<3x20xf32>
  exec.buffer @out13 at 37120 bytes 256 live 0 to 1 category activations name "y13" "result" role "y13" : tensor<3x20xf32>
  exec.buffer @out14 at 37376 bytes 256 live 0 to 1 category activations name "y14" "result" role "y14" : tensor<3x20xf32>
  exec.buffer @out15 at 37632 bytes 256 live 0 to 1 category activations name "y15" "result" role "y15" : tensor<3x20xf32>
  exec.buffer @out16 at 37888 bytes 256 live 0 to 1 category activations name "y16" "result" role "y16" : tensor<3x20xf32>
  exec.buffer @out17 at 38144 bytes 256 live 0 to 1 category activations name "y17" "result" role "y17" : tensor<3x20xf32>
  exec.buffer @out18 at 38400 bytes 256 live 0 to 1 category activations name "y18" "result" role "y18" : tensor<3x20xf32>
  exec.buffer @out19 at 38656 bytes 256 live 0 to 1 category activations name "y19" "result" role "y19" : tensor<3x20xf32>
  exec.buffer @out20 at 38912 bytes 256 live 0 to 1 category activations name "y20" "result" role "y20" : tensor<3x20xf32>
  exec.buffer @out21 at 39168 bytes 256 live 0 to 1 category activations name "y21" "result" role "y21" : tensor<3x20xf32>
  exec.buffer @out22 at 39424 bytes 256 live 0 to 1 category activations name "y22" "result" role "y22" : tensor<3x20xf32>
  exec.buffer @out23 at 39680 bytes 256 live 0 to 1 category activations name "y23" "result" role "y23" : tensor<3x20xf32>
  exec.buffer @out24 at 39936 bytes 256 live 0 to 1 category activations name "y24" "result" role "y24" : tensor<3x20xf32>
  exec.buffer @out25 at 40192 bytes 256 live 0 to 1 category activations name "y25" "result" role "y25" : tensor<3x20xi32>
  exec.buffer @out26 at 40448 bytes 256 live 0 to 1 category activations name "y26" "result" role "y26" : tensor<3x20xi32>
  exec.buffer @out27 at 40704 bytes 256 live 0 to 1 category activations name "y27" "result" role "y27" : tensor<3x20xi32>
  exec.buffer @out28 at 40960 bytes 256 live 0 to 1 category activations name "y28" "result" role "y28" : tensor<3x20xi32>
  exec.buffer @out29 at 41216 bytes 256 live 0 to 1 category activations name "y29" "result" role "y29" : tensor<3x20xi32>
  exec.buffer @out30 at 41472 bytes 256 live 0 to 1 category activations name "y30" "result" role "y30" : tensor<3x20xi32>
  exec.buffer @out31 at 41728 bytes 256 live 0 to 1 category activations name "y31" "result" role "y31" : tensor<3x20xi32>
  exec.buffer @out32 at 41984 bytes 256 live 0 to 1 category activations name "y32" "result" role "y32" : tensor<3x20xi32>
  exec.buffer @out33 at 42240 bytes 256 live 0 to 1 category activations name "y33" "result" role "y33" : tensor<3x20xi32>
  exec.buffer @out34 at 42496 bytes 256 live 0 to 1 category activations name "y34" "result" role "y34" : tensor<3x20xi32>
  exec.buffer @out35 at 42752 bytes 256 live 0 to 1 category activations name "y35" "result" role "y35" : tensor<3x20xi32>
  exec.buffer @out36 at 43008 bytes 256 live 0 to 1 category activations name "y36" "result" role "y36" : tensor<3x20xi32>
  exec.buffer @out37 at 43264 bytes 64 live 0 to 1 category activations name "y37" "result" role "y37" : tensor<3x20xi1>
  exec.buffer @out38 at 43328 bytes 64 live 0 to 1 category activations name "y38" "result" role "y38" : tensor<3x20xi1>
  exec.buffer @out39 at 43392 bytes 64 live 0 to 1 category activations name "y39" "result" role "y39" : tensor<3x20xi1>
  exec.buffer @out40 at 43456 bytes 64 live 0 to 1 category activations name "y40" "result" role "y40" : tensor<3x20xi1>
  exec.buffer @out41 at 43520 bytes 64 live 0 to 1 category activations name "y41" "result" role "y41" : tensor<3x20xi1>
  exec.buffer @out42 at 43584 bytes 64 live 0 to 1 category activations name "y42" "result" role "y42" : tensor<3x20xi1>
  exec.buffer @out43 at 43648 bytes 64 live 0 to 1 category activations name "y43" "result" role "y43" : tensor<3x20xi1>
  exec.buffer @out44 at 43712 bytes 64 live 0 to 1 category activations name "y44" "result" role "y44" : tensor<3x20xi1>
  exec.buffer @out45 at 43776 bytes 64 live 0 to 1 category activations name "y45" "result" role "y45" : tensor<3x20xi1>
  exec.buffer @out46 at 43840 bytes 64 live 0 to 1 category activations name "y46" "result" role "y46" : tensor<3x20xi1>
  exec.buffer @out47 at 43904 bytes 64 live 0 to 1 category activations name "y47" "result" role "y47" : tensor<3x20xi1>
  exec.buffer @out48 at 43968 bytes 64 live 0 to 1 category activations name "y48" "result" role "y48" : tensor<3x20xi1>
  exec.buffer @out49 at 44032 bytes 64 live 0 to 1 category activations name "y49" "result" role "y49" : tensor<3x20xi1>
  exec.buffer @out50 at 44096 bytes 64 live 0 to 1 category activations name "y50" "result" role "y50" : tensor<3x20xi1>
  exec.buffer @out51 at 44160 bytes 64 live 0 to 1 category activations name "y51" "result" role "y51" : tensor<3x20xi1>
  exec.buffer @out52 at 44224 bytes 64 live 0 to 1 category activations name "y52" "result" role "y52" : tensor<3x20xi1>
  exec.buffer @out53 at 44288 bytes 64 live 0 to 1 category activations name "y53" "result" role "y53" : tensor<3x20xi1>
  exec.buffer @out54 at 44352 bytes 64 live 0 to 1 category activations name "y54" "result" role "y54" : tensor<3x20xi1>
  exec.buffer @out55 at 44416 bytes 64 live 0 to 1 category activations name "y55" "result" role "y55" : tensor<3x20xi1>
  exec.buffer @out56 at 44480 bytes 64 live 0 to 1 category activations name "y56" "result" role "y56" : tensor<3x20xi1>
  exec.buffer @out57 at 44544 bytes 256 live 0 to 1 category activations name "y57" "result" role "y57" : tensor<3x20xi32>
  exec.buffer @out58 at 44800 bytes 64 live 0 to 1 category activations name "y58" "result" role "y58" : tensor<3x20xi1>
  exec.buffer @out59 at 44864 bytes 256 live 0 to 1 category activations name "y59" "result" role "y59" : tensor<3x20xf32>
  exec.buffer @out60 at 45120 bytes 256 live 0 to 1 category activations name "y60" "result" role "y60" : tensor<3x20xi32>
  exec.buffer @out61 at 45376 bytes 256 live 0 to 1 category activations name "y61" "result" role "y61" : tensor<3x20xf32>
  exec.buffer @out62 at 45632 bytes 256 live 0 to 1 category activations name "y62" "result" role "y62" : tensor<3x20xi32>
  exec.buffer @out63 at 45888 bytes 64 live 0 to 1 category activations name "y63" "result" role "y63" : tensor<3x20xi1>
  exec.buffer @out64 at 45952 bytes 256 live 0 to 1 category activations name "y64" "result" role "y64" : tensor<3x20xf32>
  %i0 = exec.ref @in0 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %i1 = exec.ref @in1 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %i2 = exec.ref @in2 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %i3 = exec.ref @in3 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o0 = exec.ref @out0 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o1 = exec.ref @out1 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o2 = exec.ref @out2 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o3 = exec.ref @out3 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o4 = exec.ref @out4 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o5 = exec.ref @out5 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o6 = exec.ref @out6 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o7 = exec.ref @out7 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o8 = exec.ref @out8 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o9 = exec.ref @out9 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o10 = exec.ref @out10 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o11 = exec.ref @out11 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o12 = exec.ref @out12 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o13 = exec.ref @out13 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o14 = exec.ref @out14 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o15 = exec.ref @out15 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o16 = exec.ref @out16 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o17 = exec.ref @out17 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o18 = exec.ref @out18 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o19 = exec.ref @out19 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o20 = exec.ref @out20 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o21 = exec.ref @out21 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o22 = exec.ref @out22 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o23 = exec.ref @out23 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o24 = exec.ref @out24 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o25 = exec.ref @out25 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o26 = exec.ref @out26 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o27 = exec.ref @out27 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o28 = exec.ref @out28 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o29 = exec.ref @out29 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o30 = exec.ref @out30 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o31 = exec.ref @out31 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o32 = exec.ref @out32 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o33 = exec.ref @out33 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o34 = exec.ref @out34 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o35 = exec.ref @out35 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o36 = exec.ref @out36 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o37 = exec.ref @out37 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o38 = exec.ref @out38 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o39 = exec.ref @out39 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o40 = exec.ref @out40 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o41 = exec.ref @out41 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o42 = exec.ref @out42 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o43 = exec.ref @out43 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o44 = exec.ref @out44 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o45 = exec.ref @out45 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o46 = exec.ref @out46 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o47 = exec.ref @out47 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o48 = exec.ref @out48 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o49 = exec.ref @out49 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o50 = exec.ref @out50 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o51 = exec.ref @out51 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o52 = exec.ref @out52 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o53 = exec.ref @out53 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o54 = exec.ref @out54 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o55 = exec.ref @out55 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o56 = exec.ref @out56 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o57 = exec.ref @out57 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o58 = exec.ref @out58 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o59 = exec.ref @out59 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o60 = exec.ref @out60 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o61 = exec.ref @out61 + 0 : !exec.ref<3x20xf32, [20, 1]>
  %o62 = exec.ref @out62 + 0 : !exec.ref<3x20xi32, [20, 1]>
  %o63 = exec.ref @out63 + 0 : !exec.ref<3x20xi1, [20, 1]>
  %o64 = exec.ref @out64 + 0 : !exec.ref<3x20xf32, [20, 1]>
  exec.launch @lanes batch 1 (%i0, %i1, %i2, %i3) outs(%o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7, %o8, %o9, %o10, %o11, %o12, %o13, %o14, %o15, %o16, %o17, %o18, %o19, %o20, %o21, %o22, %o23, %o24, %o25, %o26, %o27, %o28, %o29, %o30, %o31, %o32, %o33, %o34, %o35, %o36, %o37, %o38, %o39, %o40, %o41, %o42, %o43, %o44, %o45, %o46, %o47, %o48, %o49, %o50, %o51, %o52, %o53, %o54, %o55, %o56, %o57, %o58, %o59, %o60, %o61, %o62, %o63, %o64)
      : !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]> -> !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>, !exec.ref<3x20xi32, [20, 1]>, !exec.ref<3x20xi1, [20, 1]>, !exec.ref<3x20xf32, [20, 1]>
}
exec.program @run_rows arena 131072 {
  exec.buffer @in0 at 32768 bytes 64 live -1 to 0 category inputs name "x0" "input" role "x0" : tensor<5xf32>
  exec.buffer @in1 at 32832 bytes 64 live -1 to 0 category inputs name "x1" "input" role "x1" : tensor<5xf32>
  exec.buffer @in2 at 32896 bytes 64 live -1 to 0 category inputs name "x2" "input" role "x2" : tensor<5xi32>
  exec.buffer @in3 at 32960 bytes 64 live -1 to 0 category inputs name "x3" "input" role "x3" : tensor<5xi32>
  exec.buffer @out0 at 33024 bytes 64 live 0 to 1 category activations name "y0" "result" role "y0" : tensor<5xf32>
  exec.buffer @out1 at 33088 bytes 64 live 0 to 1 category activations name "y1" "result" role "y1" : tensor<5xf32>
  exec.buffer @out2 at 33152 bytes 64 live 0 to 1 category activations name "y2" "result" role "y2" : tensor<5xf32>
  exec.buffer @out3 at 33216 bytes 64 live 0 to 1 category activations name "y3" "result" role "y3" : tensor<5xf32>
  exec.buffer @out4 at 33280 bytes 64 live 0 to 1 category activations name "y4" "result" role "y4" : tensor<5xf32>
  exec.buffer @out5 at 33344 bytes 64 live 0 to 1 category activations name "y5" "result" role "y5" : tensor<5xf32>
  exec.buffer @out6 at 33408 bytes 64 live 0 to 1 category activations name "y6" "result" role "y6" : tensor<5xf32>
  exec.buffer @out7 at 33472 bytes 64 live 0 to 1 category activations name "y7" "result" role "y7" : tensor<5xf32>
  exec.buffer @out8 at 33536 bytes 64 live 0 to 1 category activations name "y8" "result" role "y8" : tensor<5xf32>
  exec.buffer @out9 at 33600 bytes 64 live 0 to 1 category activations name "y9" "result" role "y9" : tensor<5xf32>
  exec.buffer @out10 at 33664 bytes 64 live 0 to 1 category activations name "y10" "result" role "y10" : tensor<5xf32>
  exec.buffer @out11 at 33728 bytes 64 live 0 to 1 category activations name "y11" "result" role "y11" : tensor<5xf32>
  exec.buffer @out12 at 33792 bytes 64 live 0 to 1 category activations name "y12" "result" role "y12" : tensor<5xf32>
  exec.buffer @out13 at 33856 bytes 64 live 0 to 1 category activations name "y13" "result" role "y13" : tensor<5xf32>
  exec.buffer @out14 at 33920 bytes 64 live 0 to 1 category activations name "y14" "result" role "y14" : tensor<5xf32>
  exec.buffer @out15 at 33984 bytes 64 live 0 to 1 category activations name "y15" "result" role "y15" : tensor<5xf32>
  exec.buffer @out16 at 34048 bytes 64 live 0 to 1 category activations name "y16" "result" role "y16" : tensor<5xf32>
  exec.buffer @out17 at 34112 bytes 64 live 0 to 1 category activations name "y17" "result" role "y17" : tensor<5xf32>
  exec.buffer @out18 at 34176 bytes 64 live 0 to 1 category activations name "y18" "result" role "y18" : tensor<5xf32>
  exec.buffer @out19 at 34240 bytes 64 live 0 to 1 category activations name "y19" "result" role "y19" : tensor<5xf32>
  exec.buffer @out20 at 34304 bytes 64 live 0 to 1 category activations name "y20" "result" role "y20" : tensor<5xf32>
  exec.buffer @out21 at 34368 bytes 64 live 0 to 1 category activations name "y21" "result" role "y21" : tensor<5xf32>
  exec.buffer @out22 at 34432 bytes 64 live 0 to 1 category activations name "y22" "result" role "y22" : tensor<5xf32>
  exec.buffer @out23 at 34496 bytes 64 live 0 to 1 category activations name "y23" "result" role "y23" : tensor<5xf32>
  exec.buffer @out24 at 34560 bytes 64 live 0 to 1 category activations name "y24" "result" role "y24" : tensor<5xf32>
  exec.buffer @out25 at 34624 bytes 64 live 0 to 1 category activations name "y25" "result" role "y25" : tensor<5xi32>
  exec.buffer @out26 at 34688 bytes 64 live 0 to 1 category activations name "y26" "result" role "y26" : tensor<5xi32>
  exec.buffer @out27 at 34752 bytes 64 live 0 to 1 category activations name "y27" "result" role "y27" : tensor<5xi32>
  exec.buffer @out28 at 34816 bytes 64 live 0 to 1 category activations name "y28" "result" role "y28" : tensor<5xi32>
  exec.buffer @out29 at 34880 bytes 64 live 0 to 1 category activations name "y29" "result" role "y29" : tensor<5xi32>
  exec.buffer @out30 at 34944 bytes 64 live 0 to 1 category activations name "y30" "result" role "y30" : tensor<5xi32>
  exec.buffer @out31 at 35008 bytes 64 live 0 to 1 category activations name "y31" "result" role "y31" : tensor<5xi32>
  exec.buffer @out32 at 35072 bytes 64 live 0 to 1 category activations name "y32" "result" role "y32" : tensor<5xi32>
  exec.buffer @out33 at 35136 bytes 64 live 0 to 1 category activations name "y33" "result" role "y33" : tensor<5xi32>
  exec.buffer @out34 at 35200 bytes 64 live 0 to 1 category activations name "y34" "result" role "y34" : tensor<5xi32>
  exec.buffer @out35 at 35264 bytes 64 live 0 to 1 category activations name "y35" "result" role "y35" : tensor<5xi32>
  exec.buffer @out36 at 35328 bytes 64 live 0 to 1 category activations name "y36" "result" role "y36" : tensor<5xi32>
  exec.buffer @out37 at 35392 bytes 64 live 0 to 1 category activations name "y37" "result" role "y37" : tensor<5xi1>
  exec.buffer @out38 at 35456 bytes 64 live 0 to 1 category activations name "y38" "result" role "y38" : tensor<5xi1>
  exec.buffer @out39 at 35520 bytes 64 live 0 to 1 category activations name "y39" "result" role "y39" : tensor<5xi1>
  exec.buffer @out40 at 35584 bytes 64 live 0 to 1 category activations name "y40" "result" role "y40" : tensor<5xi1>
  exec.buffer @out41 at 35648 bytes 64 live 0 to 1 category activations name "y41" "result" role "y41" : tensor<5xi1>
  exec.buffer @out42 at 35712 bytes 64 live 0 to 1 category activations name "y42" "result" role "y42" : tensor<5xi1>
  exec.buffer @out43 at 35776 bytes 64 live 0 to 1 category activations name "y43" "result" role "y43" : tensor<5xi1>
  exec.buffer @out44 at 35840 bytes 64 live 0 to 1 category activations name "y44" "result" role "y44" : tensor<5xi1>
  exec.buffer @out45 at 35904 bytes 64 live 0 to 1 category activations name "y45" "result" role "y45" : tensor<5xi1>
  exec.buffer @out46 at 35968 bytes 64 live 0 to 1 category activations name "y46" "result" role "y46" : tensor<5xi1>
  exec.buffer @out47 at 36032 bytes 64 live 0 to 1 category activations name "y47" "result" role "y47" : tensor<5xi1>
  exec.buffer @out48 at 36096 bytes 64 live 0 to 1 category activations name "y48" "result" role "y48" : tensor<5xi1>
  exec.buffer @out49 at 36160 bytes 64 live 0 to 1 category activations name "y49" "result" role "y49" : tensor<5xi1>
  exec.buffer @out50 at 36224 bytes 64 live 0 to 1 category activations name "y50" "result" role "y50" : tensor<5xi1>
  exec.buffer @out51 at 36288 bytes 64 live 0 to 1 category activations name "y51" "result" role "y51" : tensor<5xi1>
  exec.buffer @out52 at 36352 bytes 64 live 0 to 1 category activations name "y52" "result" role "y52" : tensor<5xi1>
  exec.buffer @out53 at 36416 bytes 64 live 0 to 1 category activations name "y53" "result" role "y53" : tensor<5xi1>
  exec.buffer @out54 at 36480 bytes 64 live 0 to 1 category activations name "y54" "result" role "y54" : tensor<5xi1>
  exec.buffer @out55 at 36544 bytes 64 live 0 to 1 category activations name "y55" "result" role "y55" : tensor<5xi1>
  exec.buffer @out56 at 36608 bytes 64 live 0 to 1 category activations name "y56" "result" role "y56" : tensor<5xi1>
  exec.buffer @out57 at 36672 bytes 64 live 0 to 1 category activations name "y57" "result" role "y57" : tensor<5xi32>
  exec.buffer @out58 at 36736 bytes 64 live 0 to 1 category activations name "y58" "result" role "y58" : tensor<5xi1>
  exec.buffer @out59 at 36800 bytes 64 live 0 to 1 category activations name "y59" "result" role "y59" : tensor<5xf32>
  exec.buffer @out60 at 36864 bytes 64 live 0 to 1 category activations name "y60" "result" role "y60" : tensor<5xi32>
  exec.buffer @out61 at 36928 bytes 64 live 0 to 1 category activations name "y61" "result" role "y61" : tensor<5xf32>
  exec.buffer @out62 at 36992 bytes 64 live 0 to 1 category activations name "y62" "result" role "y62" : tensor<5xi32>
  exec.buffer @out63 at 37056 bytes 64 live 0 to 1 category activations name "y63" "result" role "y63" : tensor<5xi1>
  exec.buffer @out64 at 37120 bytes 64 live 0 to 1 category activations name "y64" "result" role "y64" : tensor<5xf32>
  %i0 = exec.ref @in0 + 0 : !exec.ref<5xf32, [1]>
  %i1 = exec.ref @in1 + 0 : !exec.ref<5xf32, [1]>
  %i2 = exec.ref @in2 + 0 : !exec.ref<5xi32, [1]>
  %i3 = exec.ref @in3 + 0 : !exec.ref<5xi32, [1]>
  %o0 = exec.ref @out0 + 0 : !exec.ref<5xf32, [1]>
  %o1 = exec.ref @out1 + 0 : !exec.ref<5xf32, [1]>
  %o2 = exec.ref @out2 + 0 : !exec.ref<5xf32, [1]>
  %o3 = exec.ref @out3 + 0 : !exec.ref<5xf32, [1]>
  %o4 = exec.ref @out4 + 0 : !exec.ref<5xf32, [1]>
  %o5 = exec.ref @out5 + 0 : !exec.ref<5xf32, [1]>
  %o6 = exec.ref @out6 + 0 : !exec.ref<5xf32, [1]>
  %o7 = exec.ref @out7 + 0 : !exec.ref<5xf32, [1]>
  %o8 = exec.ref @out8 + 0 : !exec.ref<5xf32, [1]>
  %o9 = exec.ref @out9 + 0 : !exec.ref<5xf32, [1]>
  %o10 = exec.ref @out10 + 0 : !exec.ref<5xf32, [1]>
  %o11 = exec.ref @out11 + 0 : !exec.ref<5xf32, [1]>
  %o12 = exec.ref @out12 + 0 : !exec.ref<5xf32, [1]>
  %o13 = exec.ref @out13 + 0 : !exec.ref<5xf32, [1]>
  %o14 = exec.ref @out14 + 0 : !exec.ref<5xf32, [1]>
  %o15 = exec.ref @out15 + 0 : !exec.ref<5xf32, [1]>
  %o16 = exec.ref @out16 + 0 : !exec.ref<5xf32, [1]>
  %o17 = exec.ref @out17 + 0 : !exec.ref<5xf32, [1]>
  %o18 = exec.ref @out18 + 0 : !exec.ref<5xf32, [1]>
  %o19 = exec.ref @out19 + 0 : !exec.ref<5xf32, [1]>
  %o20 = exec.ref @out20 + 0 : !exec.ref<5xf32, [1]>
  %o21 = exec.ref @out21 + 0 : !exec.ref<5xf32, [1]>
  %o22 = exec.ref @out22 + 0 : !exec.ref<5xf32, [1]>
  %o23 = exec.ref @out23 + 0 : !exec.ref<5xf32, [1]>
  %o24 = exec.ref @out24 + 0 : !exec.ref<5xf32, [1]>
  %o25 = exec.ref @out25 + 0 : !exec.ref<5xi32, [1]>
  %o26 = exec.ref @out26 + 0 : !exec.ref<5xi32, [1]>
  %o27 = exec.ref @out27 + 0 : !exec.ref<5xi32, [1]>
  %o28 = exec.ref @out28 + 0 : !exec.ref<5xi32, [1]>
  %o29 = exec.ref @out29 + 0 : !exec.ref<5xi32, [1]>
  %o30 = exec.ref @out30 + 0 : !exec.ref<5xi32, [1]>
  %o31 = exec.ref @out31 + 0 : !exec.ref<5xi32, [1]>
  %o32 = exec.ref @out32 + 0 : !exec.ref<5xi32, [1]>
  %o33 = exec.ref @out33 + 0 : !exec.ref<5xi32, [1]>
  %o34 = exec.ref @out34 + 0 : !exec.ref<5xi32, [1]>
  %o35 = exec.ref @out35 + 0 : !exec.ref<5xi32, [1]>
  %o36 = exec.ref @out36 + 0 : !exec.ref<5xi32, [1]>
  %o37 = exec.ref @out37 + 0 : !exec.ref<5xi1, [1]>
  %o38 = exec.ref @out38 + 0 : !exec.ref<5xi1, [1]>
  %o39 = exec.ref @out39 + 0 : !exec.ref<5xi1, [1]>
  %o40 = exec.ref @out40 + 0 : !exec.ref<5xi1, [1]>
  %o41 = exec.ref @out41 + 0 : !exec.ref<5xi1, [1]>
  %o42 = exec.ref @out42 + 0 : !exec.ref<5xi1, [1]>
  %o43 = exec.ref @out43 + 0 : !exec.ref<5xi1, [1]>
  %o44 = exec.ref @out44 + 0 : !exec.ref<5xi1, [1]>
  %o45 = exec.ref @out45 + 0 : !exec.ref<5xi1, [1]>
  %o46 = exec.ref @out46 + 0 : !exec.ref<5xi1, [1]>
  %o47 = exec.ref @out47 + 0 : !exec.ref<5xi1, [1]>
  %o48 = exec.ref @out48 + 0 : !exec.ref<5xi1, [1]>
  %o49 = exec.ref @out49 + 0 : !exec.ref<5xi1, [1]>
  %o50 = exec.ref @out50 + 0 : !exec.ref<5xi1, [1]>
  %o51 = exec.ref @out51 + 0 : !exec.ref<5xi1, [1]>
  %o52 = exec.ref @out52 + 0 : !exec.ref<5xi1, [1]>
  %o53 = exec.ref @out53 + 0 : !exec.ref<5xi1, [1]>
  %o54 = exec.ref @out54 + 0 : !exec.ref<5xi1, [1]>
  %o55 = exec.ref @out55 + 0 : !exec.ref<5xi1, [1]>
  %o56 = exec.ref @out56 + 0 : !exec.ref<5xi1, [1]>
  %o57 = exec.ref @out57 + 0 : !exec.ref<5xi32, [1]>
  %o58 = exec.ref @out58 + 0 : !exec.ref<5xi1, [1]>
  %o59 = exec.ref @out59 + 0 : !exec.ref<5xf32, [1]>
  %o60 = exec.ref @out60 + 0 : !exec.ref<5xi32, [1]>
  %o61 = exec.ref @out61 + 0 : !exec.ref<5xf32, [1]>
  %o62 = exec.ref @out62 + 0 : !exec.ref<5xi32, [1]>
  %o63 = exec.ref @out63 + 0 : !exec.ref<5xi1, [1]>
  %o64 = exec.ref @out64 + 0 : !exec.ref<5xf32, [1]>
  exec.launch @rows batch 1 (%i0, %i1, %i2, %i3) outs(%o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7, %o8, %o9, %o10, %o11, %o12, %o13, %o14, %o15, %o16, %o17, %o18, %o19, %o20, %o21, %o22, %o23, %o24, %o25, %o26, %o27, %o28, %o29, %o30, %o31, %o32, %o33, %o34, %o35, %o36, %o37, %o38, %o39, %o40, %o41, %o42, %o43, %o44, %o45, %o46, %o47, %o48, %o49, %o50, %o51, %o52, %o53, %o54, %o55, %o56, %o57, %o58, %o59, %o60, %o61, %o62, %o63, %o64)
      : !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]> -> !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xf32, [1]>, !exec.ref<5xi32, [1]>, !exec.ref<5xi1, [1]>, !exec.ref<5xf32, [1]>
}
