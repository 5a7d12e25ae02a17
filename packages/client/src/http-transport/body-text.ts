import { canonicalJson } from '@gyropilot/api'
import { stringifyExact } from '@gyropilot/foundation/exact-json'

/** Where JSON.stringify and Go's encoder part: characters that Go escapes, and keys that JavaScript moves to the front. */
const WRITTEN_OTHERWISE = /[<>&\u2028\u2029]|[{,]"(?:0|[1-9]\d*)":/

/**
 * The text of a body. A server keeps raw extensions, as the data of ControllerRevisions, byte for byte as they were sent, and
 * refuses a PUT whose bytes differ: so a body that Go would write otherwise is written as Go does. An object in it whose keys
 * were not sorted then gets them sorted; any other body keeps its order.
 */
export function bodyText(json: unknown): string {
  const text = stringifyExact(json)
  return WRITTEN_OTHERWISE.test(text) ? canonicalJson(json) : text
}

/** What is kept of a body that may never be sent again. */
const LARGEST_KEPT_BYTES = 64 << 10

/** The bytes of bodies. The pods of a set are one object that is sent many times in a row: it is written once. */
export class JsonBodies {
  #json: unknown
  #bytes = Buffer.alloc(0)

  bytesOf({ json, repeated }: { readonly json: unknown; readonly repeated?: boolean }): Buffer {
    if (repeated !== true) return Buffer.from(bodyText(json))
    if (json === this.#json) return this.#bytes
    const bytes = Buffer.from(bodyText(json))
    if (bytes.length <= LARGEST_KEPT_BYTES) {
      this.#json = json
      this.#bytes = bytes
    }
    return bytes
  }
}
