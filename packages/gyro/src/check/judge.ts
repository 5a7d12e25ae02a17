/** One manifest before the server: every mistake of it, not only the first that is answered. */
import type { Status } from '@gyropilot/api'
import type { ResourceInfo } from '@gyropilot/api-server'
import type { CheckingServer } from './checking-server.ts'
import { decodingMistakes, mended } from './decoding-mistakes.ts'
import type { DecodingMistake } from './decoding-mistakes.ts'
import { findingAt } from './manifest.ts'
import type { Manifest } from './manifest.ts'
import type { Finding, ObjectName } from './findings.ts'
import { isUndecodable, mistakesOf, oneLine, strictMistakes } from './refusal.ts'
import type { Mistake } from './refusal.ts'
import { leadingPath, placeOfField } from './source/field-path.ts'

interface Judgement {
  /** What the server answers to the create; undefined: it accepts. */
  readonly refusal: Status | undefined
  readonly findings: readonly Finding[]
}

export async function judge(
  server: CheckingServer,
  info: ResourceInfo,
  manifest: Manifest,
  namespace: string,
  object: ObjectName,
): Promise<Judgement> {
  const ask = (value: unknown, validation: 'Strict' | 'Ignore') =>
    server.judge(info, namespace, value, validation)
  const findings = repeatedKeys(manifest, object)
  const add = ({ message, field, reason }: Mistake): void => {
    const place = field === undefined ? undefined : placeOfAnswer(manifest, field)
    findings.push(findingAt(manifest, { severity: 'error', message, field, reason, object }, place))
  }
  const warnings = new Set<string>()
  let answered: Status | undefined
  /** What is refused when fields that nobody knows are told, and then left out. */
  const asked = async (value: unknown): Promise<Status | undefined> => {
    const first = await ask(value, 'Strict')
    answered ??= first.refusal
    const strict = first.refusal && strictMistakes(first.refusal)
    const answer = strict === undefined ? first : await ask(value, 'Ignore')
    strict?.forEach(add)
    for (const text of answer.warnings) warnings.add(text)
    return answer.refusal
  }
  let refusal = await asked(manifest.object)
  let unread: readonly DecodingMistake[] = []
  if (refusal !== undefined && isUndecodable(refusal)) {
    unread = await decodingMistakes(manifest.node, async (value) => {
      const { refusal: why } = await ask(value, 'Ignore')
      return why !== undefined && isUndecodable(why) ? why.message : undefined
    })
    for (const { message, path, place } of unread) {
      const content = { message: oneLine(message), reason: 'BadRequest', field: fieldOf(path) }
      findings.push(findingAt(manifest, { severity: 'error', object, ...content }, place))
    }
    const rest = unread.length > 0 ? await asked(mended(manifest.object, unread)) : refusal
    refusal = unread.length > 0 && rest && isUndecodable(rest) ? undefined : rest
  }
  const places = new Set(unread.map(({ place }) => place))
  for (const mistake of refusal === undefined ? [] : mistakesOf(refusal))
    if (mistake.field === undefined || !places.has(placeOfAnswer(manifest, mistake.field)))
      add(mistake)
  for (const text of warnings) findings.push(warning(manifest, text, object))
  return { refusal: answered, findings }
}

/** Fields that the server fills from others, and names: nobody writes them where it finds them wrong. */
const WRITTEN_AS: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  CustomResourceDefinition: [
    [/^spec\.validation(?=\.|$)/, 'spec.versions[0].schema'],
    [/^spec\.(?=subresources|additionalPrinterColumns|selectableFields)/, 'spec.versions[0].'],
  ],
  Service: [[/^spec\.clusterIPs(\[0\])?$/, 'spec.clusterIP']],
}

function placeOfAnswer({ node, kind }: Manifest, field: string): number {
  const places = [field]
  for (const [pattern, written] of WRITTEN_AS[kind] ?? [])
    if (pattern.test(field)) places.push(field.replace(pattern, written))
  // What is written leads furthest into the text.
  return Math.max(...places.map((path) => placeOfField(node, path)))
}

/** A server that is given the text itself refuses these; kubectl keeps the last and says nothing. */
function repeatedKeys(manifest: Manifest, object: ObjectName): Finding[] {
  const { kind, version, repeatedKeys: keys } = manifest
  const head = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: strict decoding error`
  return keys.map(({ key, start }) => {
    const message = `${head}: key ${JSON.stringify(key)} already set in map`
    return findingAt(manifest, { severity: 'error', message, reason: 'BadRequest', object }, start)
  })
}

function warning(manifest: Manifest, message: string, object: ObjectName): Finding {
  const field = leadingPath(message)
  const place = field === '' ? {} : { field }
  return findingAt(manifest, { severity: 'warning', message: oneLine(message), object, ...place })
}

function fieldOf(path: readonly (string | number)[]): string {
  return path
    .map((step, index) =>
      typeof step === 'number'
        ? `[${step}]`
        : /^[\w-]+$/.test(step)
          ? `${index === 0 ? '' : '.'}${step}`
          : `[${step}]`,
    )
    .join('')
}
