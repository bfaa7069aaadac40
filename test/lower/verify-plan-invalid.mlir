// RUN: braid-opt %s --exec-verify-plan --split-input-file --verify-diagnostics

exec.program @unaligned arena 256 {
  // expected-error @below {{'a' is at 32, which is not a multiple of 64}}
  exec.buffer @a at 32 bytes 64 live 0 to 0 category activations name "a"
}

// -----

exec.program @outside arena 64 {
  // expected-error @below {{'a' ends at 128 but the arena of 'outside' has 64 bytes}}
  exec.buffer @a at 0 bytes 128 live -1 to 0 category activations name "a"
}

// -----

exec.program @life arena 64 {
  // expected-error @below {{'a' lives from 0 to 3 in a program of 0 actions}}
  exec.buffer @a at 0 bytes 64 live 0 to 3 category activations name "a"
}

// -----

exec.program @overlap arena 192 {
  // expected-note @below {{the other range}}
  exec.buffer @a at 0 bytes 128 live -1 to 0 category inputs name "a" "input" role "" : tensor<32xf32>
  // expected-error @below {{'b' at 64 to 128 overlaps 'a' at 0 to 128 while both are live}}
  exec.buffer @b at 64 bytes 64 live 0 to 0 category activations name "b"
}

// -----

// expected-error @below {{'w' at 0 to 32 overlaps 'a' at 0 to 64 while both are live}}
exec.tensor @w at 0 bytes 32 category parameters : tensor<8xf32> = #tg.param<"w", #tg.init<zeros>>
exec.program @persistent arena 64 {
  // expected-note @below {{the other range}}
  exec.buffer @a at 0 bytes 64 live -1 to 0 category inputs name "a" "input" role "" : tensor<16xf32>
}

// -----

exec.program @dead arena 256 {
  exec.buffer @x at 0 bytes 64 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x4xf32>
  // expected-note @below {{declared here}}
  exec.buffer @a at 64 bytes 64 live 0 to 0 category activations name "a"
  exec.buffer @y at 128 bytes 64 live 1 to 2 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %a = exec.ref @a + 0 : <4x4xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  exec.matmul "ij,jk->ik"(%x, %x) outs(%a : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  // expected-error @below {{is action 1 but uses 'a', which lives from 0 to 0}}
  exec.matmul "ij,jk->ik"(%a, %a) outs(%y : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
}

// -----

// The second half of every row is never written.
exec.program @unwritten arena 256 {
  exec.buffer @x at 0 bytes 32 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x2xf32>
  exec.buffer @a at 64 bytes 64 live 0 to 1 category activations name "a"
  exec.buffer @y at 128 bytes 64 live 1 to 2 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x2xf32, [2, 1]>
  %half = exec.ref @a + 0 : <4x2xf32, [4, 1]>
  %a = exec.ref @a + 0 : <4x4xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  %w = exec.ref @x + 0 : <2x2xf32, [2, 1]>
  exec.matmul "ij,jk->ik"(%x, %w) outs(%half : !exec.ref<4x2xf32, [4, 1]>) : !exec.ref<4x2xf32, [2, 1]>, !exec.ref<2x2xf32, [2, 1]>
  // expected-error @below {{reads byte 8 of 'a' as operand 0, but no action before has written it}}
  exec.matmul "ij,jk->ik"(%a, %a) outs(%y : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
}

// -----

exec.program @result arena 64 {
  // expected-error @below {{is a result whose byte 0 no action writes}}
  exec.buffer @y at 0 bytes 64 live 0 to 0 category activations name "y" "result" role "y" : tensor<4x4xf32>
}

// -----

exec.program @in_place arena 128 {
  exec.buffer @x at 0 bytes 64 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  // expected-error @below {{writes out 0 over its operand 0 in 'x', which it may not overwrite}}
  exec.matmul "ij,jk->ik"(%x, %x) outs(%x : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
}

// -----

exec.program @accumulator arena 256 {
  exec.buffer @x at 0 bytes 64 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @a at 64 bytes 64 live -1 to 0 category inputs name "a" "input" role "" : tensor<4x4xf32>
  exec.buffer @y at 128 bytes 64 live 0 to 1 category activations name "y" "result" role "y" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %a = exec.ref @a + 0 : <4x4xf32, [4, 1]>
  %y = exec.ref @y + 0 : <4x4xf32, [4, 1]>
  // expected-error @below {{must write out 0 where operand 2 is, but their references differ}}
  exec.matmul "ij,jk->ik"(%x, %x acc %a : !exec.ref<4x4xf32, [4, 1]>) outs(%y : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
}

// -----

// Interleaved slices do not collide: nothing to say.
exec.program @interleaved arena 192 {
  exec.buffer @x at 0 bytes 64 live -1 to 1 category inputs name "x" "input" role "" : tensor<4x4xf32>
  exec.buffer @y at 64 bytes 128 live 0 to 2 category activations name "y" "result" role "y" : tensor<4x8xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %left = exec.ref @y + 0 : <4x4xf32, [8, 1]>
  %right = exec.ref @y + 16 : <4x4xf32, [8, 1]>
  exec.matmul "ij,jk->ik"(%x, %x) outs(%left : !exec.ref<4x4xf32, [8, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  exec.matmul "ij,jk->ik"(%x, %left) outs(%right : !exec.ref<4x4xf32, [8, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [8, 1]>
}

// -----

// Behind the values of a tensor lie zeros, which matmuls read.
exec.tensor @w at 0 bytes 128 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
exec.program @behind arena 192 {
  exec.buffer @x at 128 bytes 64 live -1 to 0 category inputs name "x" "input" role "" : tensor<4x4xf32>
  %x = exec.ref @x + 0 : <4x4xf32, [4, 1]>
  %w = exec.ref @w + 64 : <4x4xf32, [4, 1]>
  // expected-error @below {{writes bytes 64 to 128 of 'w', whose values end at byte 64; zeros must stay behind the values}}
  exec.matmul "ij,jk->ik"(%x, %x) outs(%w : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
}
