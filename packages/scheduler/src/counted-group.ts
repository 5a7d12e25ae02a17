/** Pods that scheduling counts together, and how many of them a node has. Pure. */
import type { LabelSelector, Pod } from '@gyropilot/api'
import { podLabelsMatch } from './label-terms.ts'

/** Pods of one namespace that are not on their way out. */
export interface CountedGroup {
  /** Of two groups the same only if they have the same pods. */
  readonly key: string
  readonly has: (pod: Pod) => boolean
}

/** `text`: says in the namespace what `matches` matches. */
export function countedGroup(
  namespace: string | undefined,
  text: string,
  matches: (pod: Pod) => boolean,
): CountedGroup {
  return {
    key: `${namespace} ${text}`,
    has: (pod) =>
      pod.metadata?.namespace === namespace &&
      pod.metadata?.deletionTimestamp === undefined &&
      matches(pod),
  }
}

/** What a constraint counts. No selector selects nothing; an empty one, for which upstream counts none, neither. */
export const selectedGroup = (pod: Pod, selector: LabelSelector | undefined): CountedGroup =>
  countedGroup(
    pod.metadata?.namespace,
    selectorText(selector),
    ({ metadata }) => !isEmpty(selector) && podLabelsMatch(selector, metadata?.labels ?? {}),
  )

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): boolean {
  return matchExpressions.length === 0 && Object.keys(matchLabels).length === 0
}

const texts = new WeakMap<object, string>()

/** Selectors are parts of stored objects, which share them: each is written once. */
export function selectorText(selector: object | undefined): string {
  if (selector === undefined) return ''
  let text = texts.get(selector)
  if (text === undefined) texts.set(selector, (text = JSON.stringify(selector)))
  return text
}

/** More are forgotten: a node is asked of again and again by the groups whose pods are being placed now. */
const MOST_GROUPS = 64

/**
 * How many pods of each group a node has. Each try of a pod asks hundreds of nodes, and changes one: what was counted is kept, and
 * changed with the node's pods.
 */
export class GroupCounts {
  readonly #counts = new Map<string, { readonly group: CountedGroup; count: number }>()

  /** `pods`: all that the node has. */
  of(group: CountedGroup, pods: Iterable<Pod>): number {
    const known = this.#counts.get(group.key)
    if (known !== undefined) return known.count
    let count = 0
    for (const pod of pods) if (group.has(pod)) count++
    if (this.#counts.size >= MOST_GROUPS) this.#counts.clear()
    this.#counts.set(group.key, { group, count })
    return count
  }

  /** Another state of one pod, or one that came (`before` undefined) or went (`after` undefined). */
  replaced(before: Pod | undefined, after: Pod | undefined): void {
    if (before !== undefined && after !== undefined && isSameForGroups(before, after)) return
    for (const counted of this.#counts.values()) {
      if (before !== undefined && counted.group.has(before)) counted.count--
      if (after !== undefined && counted.group.has(after)) counted.count++
    }
  }
}

/** Most changes are of the status, and leave the labels the very same object. */
function isSameForGroups({ metadata: before }: Pod, { metadata: after }: Pod): boolean {
  return (
    before?.labels === after?.labels &&
    before?.namespace === after?.namespace &&
    before?.deletionTimestamp === after?.deletionTimestamp
  )
}
