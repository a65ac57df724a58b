-- Requests that are formatted once, and a result as one line of JSON.
local token = os.getenv("BENCH_TOKEN")
local path = os.getenv("BENCH_PATH")
local numbers = tonumber(os.getenv("BENCH_NUMBERS"))
local requests = {}
local position = 0

function init(args)
    wrk.headers["Accept"] = os.getenv("BENCH_ACCEPT")
    wrk.headers["User-Agent"] = "pyb-bench"
    if token ~= "" then
        wrk.headers["Authorization"] = "Bearer " .. token
    end
    if numbers == 0 then
        requests[1] = wrk.format("GET", path)
    end
    for number = 1, numbers do
        requests[number] = wrk.format("GET", string.format(path, number - 1))
    end
end

function request()
    position = position % #requests + 1
    return requests[position]
end

function done(summary, latency, requests)
    local errors = summary.errors
    print(string.format(
        '{"requests": %d, "seconds": %f, "received": %d, "failures": %d, "p50": %f, "p90": %f, "p99": %f}',
        summary.requests, summary.duration / 1e6, summary.bytes,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50) / 1e6, latency:percentile(90) / 1e6, latency:percentile(99) / 1e6
    ))
end
