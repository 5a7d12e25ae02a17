/** What of a request's and an answer's headers goes through when they are passed on. */

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>
type Passed = Record<string, string | readonly string[]>

/** Of one connection only, or about who may ask here. */
const NOT_PASSED_ON =
  /^(?::.*|host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings|content-length|authorization|impersonate-.*|x-remote-.*)$/
/** Of one connection only, or what pages of other origins may do here, which nobody else decides. */
const NOT_PASSED_BACK =
  /^(?:connection|keep-alive|proxy-(?:authenticate|authorization|connection)|te|trailer|transfer-encoding|content-length|content-type|upgrade|http2-settings|access-control-allow-(?:credentials|headers|methods|origin))$/

export function headersPassedOn(headers: Headers): Passed {
  const passed: Passed = {}
  const ofConnection = new Set(
    String(headers['connection'] ?? '')
      .toLowerCase()
      .split(/[\s,]+/),
  )
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !NOT_PASSED_ON.test(name) && !ofConnection.has(name))
      passed[name] = value
  return passed
}

/** Without the type of the content. Cookies stay apart: their values may hold commas. */
export function headersPassedBack(headers: Headers): Passed {
  const passed: Passed = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !NOT_PASSED_BACK.test(name)) passed[name] = value
  return passed
}
