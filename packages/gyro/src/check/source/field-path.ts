/** Where in a manifest the field is that an answer names: `spec.containers[0].image`, `metadata.labels[app.kubernetes.io/name]`. Pure. */
import type { SourceNode } from './source-node.ts'

/** Offset of the key of the field, or of the nearest one above it that is written: what is missing is missing there. */
export function placeOfField(root: SourceNode, path: string): number {
  return reached({ node: root, place: root.start, rest: path }).place
}

interface Step {
  readonly node: SourceNode
  readonly place: number
  /** Of the path. */
  readonly rest: string
}

/** Keys may hold dots and brackets: the way that leads furthest is meant. */
function reached(from: Step): Step {
  let furthest = from
  if (from.rest === '') return from
  for (const step of stepsInto(from.node, from.rest)) {
    const end = reached(step)
    if (end.rest.length < furthest.rest.length) furthest = end
  }
  return furthest
}

function stepsInto({ members, items }: SourceNode, path: string): Step[] {
  if (items !== undefined) {
    const [found, index] = /^\.?\[?(\d+|\*)\]?(?=[.[]|$)/.exec(path) ?? []
    const node = items[index === '*' ? 0 : Number(index)]
    if (found === undefined || node === undefined) return []
    return [{ node, place: node.start, rest: path.slice(found.length) }]
  }
  const steps: Step[] = []
  for (const [key, { node, keyStart }] of members ?? []) {
    for (const written of [key, `.${key}`, `[${key}]`, `["${key}"]`, `['${key}']`]) {
      const rest = path.slice(written.length)
      if (path.startsWith(written) && (rest === '' || /^[.[]/.test(rest)))
        steps.push({ node, place: keyStart, rest })
    }
  }
  return steps
}

/** The path that a text begins with, when it begins with one: `spec.jobTemplate.spec.template: ...`. */
export function leadingPath(text: string): string {
  return /^((?:[a-z][A-Za-z0-9]*)(?:\.[A-Za-z0-9_-]+|\[[^\]]*\])*): /.exec(text)?.[1] ?? ''
}
