// A local function is compared with the global one on the same logical inputs.
// Tokens index the whole table, of which a rank holds half.
//
// RUN: braid-interp %s --compare --function=global --after-function=local --seeds=3 | FileCheck %s --check-prefix=SAME
// RUN: braid-interp %s --compare --function=local --after-function=global --seeds=3 | FileCheck %s --check-prefix=BACK
// RUN: not braid-interp %s --compare --function=global --after-function=wrong 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: braid-interp %s --function=train --steps=2 --seed=3 --arithmetic=f64 > %t.global
// RUN: braid-interp %s --function=train_local --steps=2 --seed=3 --arithmetic=f64 | diff - %t.global

// SAME: 'global': 1 results agree
// BACK: 'local': 1 results agree
// WRONG: 'global' differs after the passes (seed 0): result 0 'y' at {{.*}} expected

comm.mesh @mesh [tp = 2]

func.func @global(%table: tensor<6x2xf32> {tg.input = "table"}, %tokens: tensor<20xi32> {tg.input = "tokens"}) -> (tensor<20x2xf32> {tg.output = "y"}) {
  %same = comm.constrain %tokens <@mesh, {tp}> : tensor<20xi32>
  %y = tg.gather %table, %same : (tensor<6x2xf32>, tensor<20xi32>) -> tensor<20x2xf32>
  return %y : tensor<20x2xf32>
}

// Rows of other ranks count as zero, and the sum over ranks is the row.
func.func @local(%table: tensor<3x2xf32> {tg.input = "table", comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<6x2xf32>},
                 %tokens: tensor<20xi32> {tg.input = "tokens"})
    -> (tensor<20x2xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %rank = comm.axis_index over @mesh {tp} : tensor<i32>
  %rows = arith.constant dense<3> : tensor<i32>
  %first = arith.muli %rank, %rows : tensor<i32>
  %firsts = tg.broadcast %first dims [] : tensor<i32> -> tensor<20xi32>
  %own = arith.subi %tokens, %firsts : tensor<20xi32>
  %zero = arith.constant dense<0> : tensor<20xi32>
  %last = arith.constant dense<2> : tensor<20xi32>
  %low = arith.maxsi %own, %zero : tensor<20xi32>
  %index = arith.minsi %low, %last : tensor<20xi32>
  %found = tg.gather %table, %index : (tensor<3x2xf32>, tensor<20xi32>) -> tensor<20x2xf32>
  %mine = arith.cmpi eq, %own, %index : tensor<20xi32>
  %mask = tg.convert %mine : tensor<20xi1> -> tensor<20xf32>
  %masks = tg.broadcast %mask dims [0] : tensor<20xf32> -> tensor<20x2xf32>
  %y = arith.mulf %found, %masks : tensor<20x2xf32>
  return %y : tensor<20x2xf32>
}

// Without the offset every rank finds tokens in its own part.
func.func @wrong(%table: tensor<3x2xf32> {tg.input = "table", comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<6x2xf32>},
                 %tokens: tensor<20xi32> {tg.input = "tokens"})
    -> (tensor<20x2xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {} {}, partial sum {tp}>})
    attributes {comm.program = #comm.program<@mesh>} {
  %last = arith.constant dense<2> : tensor<20xi32>
  %index = arith.minsi %tokens, %last : tensor<20xi32>
  %found = tg.gather %table, %index : (tensor<3x2xf32>, tensor<20xi32>) -> tensor<20x2xf32>
  return %found : tensor<20x2xf32>
}

// Training steps: the parameter is updated in flat parts, from a sum over rows.
func.func @train(%w: tensor<3xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 1.0>>}, %x: tensor<4x3xf32> {tg.input = "x"})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<3xf32> {tg.updates = "w"}) {
  %g = tg.reduce sum %x dims [0] : tensor<4x3xf32> -> tensor<3xf32>
  %new = arith.addf %w, %g : tensor<3xf32>
  %loss = tg.reduce max %new dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss, %new : tensor<f32>, tensor<3xf32>
}

func.func @train_local(%w: tensor<2xf32> {tg.param = #tg.param<"w", #tg.init<normal, 0.0, 1.0>>, comm.sharding = #comm.sharding<@mesh, {}, flat {tp}>, comm.global = tensor<3xf32>},
                       %x: tensor<2x3xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<4x3xf32>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<2xf32> {tg.updates = "w", comm.sharding = #comm.sharding<@mesh, {}, flat {tp}>, comm.global = tensor<3xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %g = tg.reduce sum %x dims [0] : tensor<2x3xf32> -> tensor<3xf32>
  %s = comm.reduce_scatter sum %g dims [flat] over @mesh {tp} : (tensor<3xf32>) -> tensor<2xf32>
  %new = arith.addf %w, %s : tensor<2xf32>
  %all = comm.all_gather %new dims [flat] over @mesh {tp} : (tensor<2xf32>) -> tensor<3xf32>
  %loss = tg.reduce max %all dims [0] : tensor<3xf32> -> tensor<f32>
  return %loss, %new : tensor<f32>, tensor<2xf32>
}
