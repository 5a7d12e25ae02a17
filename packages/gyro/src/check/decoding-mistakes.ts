/**
 * Where a manifest cannot be decoded. The server tells the first mistake only, and of quantities and times not even the field. So it is
 * asked again with less: a part that is refused by itself holds a mistake, down to the values themselves.
 */
import type { SourceNode } from './source/source-node.ts'

export interface DecodingMistake {
  readonly path: readonly (string | number)[]
  readonly node: SourceNode
  /** Where its key or item begins. */
  readonly place: number
  /** Why the object is refused that has nothing else. */
  readonly message: string
}

/** Says why a value cannot be decoded; undefined: it can. */
type Decode = (value: unknown) => Promise<string | undefined>

/** One answer for each value asked for: a manifest has some hundreds, and only parts that are refused are opened. */
export async function decodingMistakes(
  root: SourceNode,
  decode: Decode,
): Promise<DecodingMistake[]> {
  const header = headerOf(root.value)
  const search = async (mistake: DecodingMistake): Promise<DecodingMistake[]> => {
    const found: DecodingMistake[] = []
    for (const { step, node, place } of partsOf(mistake.node)) {
      const path = [...mistake.path, step]
      if (path.length === 1 && (step === 'kind' || step === 'apiVersion')) continue
      const message = await decode({ ...header, ...(nested(path, node.value) as object) })
      if (message !== undefined) found.push(...(await search({ path, node, place, message })))
    }
    return found.length === 0 && mistake.path.length > 0 ? [mistake] : found
  }
  return search({ path: [], node: root, place: root.start, message: '' })
}

function headerOf(value: unknown): object {
  const { apiVersion, kind } = value as { apiVersion?: unknown; kind?: unknown }
  return { apiVersion, kind }
}

interface Part {
  readonly step: string | number
  readonly node: SourceNode
  readonly place: number
}

function partsOf({ members, items }: SourceNode): Part[] {
  if (items !== undefined)
    return items.map((node, index) => ({ step: index, node, place: node.start }))
  return [...(members ?? [])].map(([step, { node, keyStart }]) => ({ step, node, place: keyStart }))
}

/** The value at the end of a path, with nothing beside it on the way. */
function nested(path: readonly (string | number)[], value: unknown): unknown {
  return path.reduceRight(
    (inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }),
    value,
  )
}

/** The object as it may have been meant: what was read as another type is put right or left out, so that the rest can be judged. */
export function mended(value: unknown, mistakes: readonly DecodingMistake[]): unknown {
  const here = mistakes.find(({ path }) => path.length === 0)
  if (here !== undefined) return meant(value, here.message)
  if (mistakes.length === 0 || typeof value !== 'object' || value === null) return value
  const part = (step: string | number, inner: unknown): unknown =>
    mended(
      inner,
      mistakes
        .filter(({ path }) => path[0] === step)
        .map((mistake) => ({ ...mistake, path: mistake.path.slice(1) })),
    )
  if (Array.isArray(value))
    return value.map((inner, index) => part(index, inner)).filter((inner) => inner !== undefined)
  return Object.fromEntries(
    Object.entries(value)
      .map(([step, inner]) => [step, part(step, inner)])
      .filter(([, inner]) => inner !== undefined),
  )
}

function meant(value: unknown, message: string): unknown {
  const [, wanted = ''] = / of type (\S+)$/.exec(message) ?? []
  if (typeof value !== 'object' && wanted === 'string') return String(value)
  if (typeof value !== 'string') return undefined
  if (/^u?int\d*$/.test(wanted) && /^-?\d{1,15}$/.test(value)) return Number(value)
  if (wanted === 'bool' && (value === 'true' || value === 'false')) return value === 'true'
  return undefined
}
