-- Holds a query until its engine can take it. Follows selector.lua, when a wake agent runs beside Envoy. The renderer
-- puts HOLD_TIMEOUT_MS before this file.
--
-- The hold comes last: the call suspends the script, and headers cannot be changed once it resumes. Such a change would
-- fail unseen, and the query would leave towards the host that its sender named.

local READY_MEMORY_MS = 250 -- longer would outlive a stop under load
local RENEWAL_MS = 200 -- from then on one query asks for all, or those on their way at 250 ms would all ask at once
local MOST_REMEMBERED = 1024

-- By the agent's decision, what a client is told; whatever is not here may pass.
local REFUSALS = {
  missing = { status = "404", text = "no such engine" },
  stopped = { status = "503", text = "engine is stopped by its owner" },
}
local UNAVAILABLE = { status = "503", retry_after = "10", text = "engine is not available; retry shortly" }

-- Per worker: engines that the agent just called ready, and when it was asked. Spares nearly all calls under load.
local ready_at = {}
local renewed_at = {} -- the memory that somebody is renewing already
local remembered = 0

local function is_remembered(engine, now)
  local at = ready_at[engine]
  if at == nil then
    return false
  end
  local age = now - at
  if age < 0 or age >= READY_MEMORY_MS then -- a clock set back ends the memory
    return false
  end
  if age < RENEWAL_MS or renewed_at[engine] == at then
    return true
  end
  renewed_at[engine] = at
  return false
end

local function remember(engine, now)
  if ready_at[engine] == nil then
    if remembered >= MOST_REMEMBERED then
      ready_at, renewed_at, remembered = {}, {}, 0
    end
    remembered = remembered + 1
  end
  ready_at[engine] = now
end

local route = envoy_on_request

function envoy_on_request(handle)
  local engine = route(handle)
  if engine == nil then
    return
  end
  local now = handle:timestamp()
  if is_remembered(engine, now) then
    return
  end
  local answer = handle:httpCall(
    "wake_agent",
    { [":method"] = "GET", [":path"] = "/hold?engine=" .. engine, [":authority"] = "wake_agent" },
    nil,
    HOLD_TIMEOUT_MS
  )
  -- Envoy makes up a 503 when the agent cannot be reached. Only the agent sends its decision, so without one the query
  -- goes on: a dead agent must not be an outage.
  local decision = answer ~= nil and answer["x-firebolt-wake-decision"] or nil
  if decision ~= nil and answer[":status"] ~= "200" then
    local refusal = REFUSALS[decision] or UNAVAILABLE
    handle:respond({ [":status"] = refusal.status, ["retry-after"] = refusal.retry_after }, refusal.text)
    return
  end
  if decision == "ready" then
    remember(engine, now)
  end
end
