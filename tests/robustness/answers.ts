/** What an answer to a bad request may be. Contract: docs/behaviour/api-server/requests.md. */

/** A message that begins so, in JSON or YAML. */
const begins = (text: string): RegExp => new RegExp(`"?message"?: ?["']?${text}`)

/** Answers of 500 and above that kube-apiserver 1.36 was seen to give too: errors that nobody translated, requests for the future, connections that end nowhere. */
const DOCUMENTED: readonly RegExp[] = [
  /^Internal Server Error: .*failed to create RequestInfo/s,
  /resourceVersion should not be set on objects to be created/,
  /etcdserver: request is too large/,
  /strconv\.Parse(Uint|Int|Bool|Float)/,
  /resourceVersion: Invalid value/,
  begins(String.raw`\[?target\.(name|kind): `),
  /failed to create typed (patch|live) object/,
  /failed to convert new object/,
  /failed to prune fields: failed /,
  /cannot merge lists without merge key for struct/,
  /merging an object in json but data type is not struct, instead is: map/,
  /does not contain declared merge key/,
  /unknown patch type: /,
  /merging lists cannot yet be specified in the patch/,
  /list element types are not identical/,
  /no elements in any of the given slices/,
  /lists of lists are not supported/,
  /doesn't match \$setElementOrder list/,
  /value for key \d+ is not a map/,
  /unable to find api field in struct \w+ for the json field/,
  /expected a \[\]interface \{\}, but received a/,
  /error trying to reach service/,
  /expected a map\[string\]interface \{\}, but received a/,
  /Too large resource version/,
  /request did not complete within the allotted timeout/,
  /object does not implement the Object interfaces/,
  begins('Non-matching dry-run options in request and content: '),
  begins('resource name may not be empty'),
  /no service port -?\d+ found for service/,
  /no endpoints available for service/,
  /unsupported role reference kind: /,
  /expected slice or array type, but got/,
  /the spec replicas field \\"[^ ]+\\" does not exist/,
  /more than one PodDisruptionBudget, which the eviction subresource does not support/,
  begins('content is not a list'),
  begins(String.raw`invalid resource name [^\]]*: \[may not `),
]

/** Undefined when the answer is one that a server may give. */
export function objectionTo(status: number, text: string): string | undefined {
  if (status >= 200 && status < 500) return undefined
  if (DOCUMENTED.some((pattern) => pattern.test(text))) return undefined
  return `answered with ${status}: ${text.slice(0, 600)}`
}

/** Undefined while nobody has written to what all objects inherit. */
export function pollution(): string | undefined {
  const seen =
    ({} as Record<string, unknown>)['polluted'] ?? ([] as unknown as { polluted?: 1 }).polluted
  if (seen !== undefined) return `Object.prototype.polluted is ${JSON.stringify(seen)}`
  const added = Object.keys(Object.prototype)
  return added.length === 0 ? undefined : `Object.prototype has ${added.join(', ')}`
}
