-- Is an engine, a class, a preset or an instance healthy? One script for all kinds that have a status.
local health = { status = "Progressing", message = "waiting for the operator" }
local status = obj.status
if status == nil or status.conditions == nil or status.observedGeneration ~= obj.metadata.generation then
  return health  -- what is written there, if anything, speaks of an earlier spec
end
local said = {}
for _, condition in ipairs(status.conditions) do
  said[condition.type] = condition
end
local ready, stalled, reconciling = said["Ready"], said["Stalled"], said["Reconciling"]
if stalled ~= nil and stalled.status == "True" then
  -- It waits for a person, whether or not it serves meanwhile.
  return { status = "Degraded", message = stalled.message }
end
if reconciling ~= nil and reconciling.status == "True" then
  return { status = "Progressing", message = reconciling.message }
end
if ready ~= nil and (ready.status == "True" or ready.reason == "Stopped") then
  -- A parked engine is where it should be: the next query wakes it.
  return { status = "Healthy", message = ready.message }
end
return health
