-- What a user of the line in docs/Cookbook.md has: the errors of the file, or the description of its op and the words
-- that complete one.
local clients = vim.lsp.get_clients or vim.lsp.get_active_clients
local function say(...) io.stdout:write(table.concat({ ... }, " "), "\n") end
local function wait(what, condition)
  if not vim.wait(60000, condition) then say("no " .. what) end
end

local function ask(method, line, character)
  local place = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = line, character = character } }
  local answers = vim.lsp.buf_request_sync(0, method, place, 60000) or {}
  return (select(2, next(answers)) or {}).result
end

wait("client", function() return clients()[1] and clients()[1].initialized end)
if vim.fn.expand("%"):match("wrong") then
  wait("error", function() return #vim.diagnostic.get(0) > 0 end)
  say("error:", vim.diagnostic.get(0)[1].message)
else
  local line = vim.fn.search("tg.gather") - 1
  local column = vim.fn.getline(line + 1):find("tg.gather") - 1
  say("hover:", (ask("textDocument/hover", line, column + 4).contents.value:gsub("\n", " ")))
  local labels = vim.tbl_map(function(item) return item.label end, ask("textDocument/completion", line, column + 4).items)
  say("completion:", table.concat(labels, " "))
end
vim.cmd("qall!")
