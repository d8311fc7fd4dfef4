-- Which engine is a query for, and where does it go? The renderer puts AUTHORITY_SUFFIX before this file.
--
-- An error raised here would let the request leave towards the host that its sender named, so nothing here can raise:
-- every value is a string or nil, and is checked before use.

local byte, char, concat, find, gsub, sub = string.byte, string.char, table.concat, string.find, string.gsub, string.sub

local HYPHEN = byte("-")
local LONGEST_NAME = 63

-- No dots, slashes or colons: nobody leaves the namespace or names a port.
local function is_engine_name(name)
  return name ~= nil
    and #name >= 1
    and #name <= LONGEST_NAME
    and find(name, "[^a-z0-9-]") == nil
    and byte(name, 1) ~= HYPHEN
    and byte(name, -1) ~= HYPHEN
end

local function decoded_byte(hex)
  return char(tonumber(hex, 16))
end

-- nil when a percent sign is not followed by two hex digits.
local function url_decoded(text)
  if find(text, "[%%+]") == nil then
    return text
  end
  if find((gsub(text, "%%%x%x", "")), "%", 1, true) ~= nil then
    return nil
  end
  return (gsub(gsub(text, "+", " "), "%%(%x%x)", decoded_byte))
end

local function split_at(text, separator)
  local at = find(text, separator, 1, true)
  if at == nil then
    return text, ""
  end
  return sub(text, 1, at - 1), sub(text, at + 1)
end

-- Takes the parameter `engine` out of a query string, because engines read parameters as settings and refuse that one.
-- All other parts stay as they are, byte for byte. Answers: engine or nil, the parts kept, an error or nil.
local function take_engine(query)
  local engine
  local kept = {}
  local from = 1
  while from <= #query + 1 do
    local to = find(query, "&", from, true) or #query + 1
    local part = sub(query, from, to - 1)
    local key, value = split_at(part, "=")
    if url_decoded(key) ~= "engine" then
      kept[#kept + 1] = part
    elseif engine ~= nil then
      return nil, kept, "multiple engine query parameters"
    else
      engine = url_decoded(value)
      if engine == nil then
        return nil, kept, "invalid engine query parameter encoding"
      end
    end
    from = to + 1
  end
  return engine, kept, nil
end

-- Answers: engine or nil, the path without it or nil when nothing was taken, an error or nil.
local function engine_in_path(path)
  local mark = path ~= nil and find(path, "?", 1, true)
  if not mark then
    return nil, nil, nil
  end
  local engine, kept, problem = take_engine(sub(path, mark + 1))
  if engine == nil then
    return nil, nil, problem
  end
  local base, rest = sub(path, 1, mark - 1), concat(kept, "&")
  return engine, rest == "" and base or base .. "?" .. rest, nil
end

-- Answers: engine, the path without it or nil, an error or nil.
local function selected_engine(headers)
  local from_path, path, problem = engine_in_path(headers:get(":path"))
  if problem ~= nil then
    return nil, nil, problem
  end
  local from_header = headers:get("x-firebolt-engine")
  if from_header ~= nil and not is_engine_name(from_header) then
    return nil, nil, "invalid X-Firebolt-Engine header"
  end
  if from_header ~= nil and from_path ~= nil and from_header ~= from_path then
    return nil, nil, "conflicting engine selectors"
  end
  local engine = from_header or from_path
  if not is_engine_name(engine) then
    return nil, nil, "invalid or missing engine selector"
  end
  return engine, path, nil
end

function envoy_on_request(handle)
  local headers = handle:headers()
  local engine, path, problem = selected_engine(headers)
  if problem ~= nil then
    handle:respond({ [":status"] = "400" }, problem)
    return nil
  end
  if path ~= nil then
    headers:replace(":path", path)
    headers:replace("x-firebolt-engine", engine) -- otherwise it is there already: nothing else named the engine
  end
  headers:replace(":authority", engine .. AUTHORITY_SUFFIX)
  return engine
end
