-- For wrk: asks for paths in turn. Arguments: a file with a path in a line, with an entity tag after a tab if the
-- request is to name one, and a file of header fields. Says what it took as a line of JSON.
local requests = {}
local at = 0

local function headersFrom(path)
  local headers = {}
  for line in io.lines(path) do
    local name, value = line:match("^([^:]+): (.*)$")
    headers[name] = value
  end
  return headers
end

function init(arguments)
  local headers = headersFrom(arguments[2])
  for line in io.lines(arguments[1]) do
    local path, tag = line:match("^([^\t]+)\t?(.*)$")
    headers["If-None-Match"] = tag ~= "" and tag or nil
    requests[#requests + 1] = wrk.format("GET", path, headers)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"bytes":%d,"lost":%d,"refused":%d,"p50":%d,"p99":%d}\n',
    summary.requests, summary.duration, summary.bytes, lost, errors.status,
    latency:percentile(50), latency:percentile(99)
  ))
end
