/** A kubeconfig with a cluster of ours in it, and without it again. What else is written there stays, comments too. Pure. */
import { isMap, isSeq, parseDocument } from 'yaml'
import type { Document, YAMLSeq } from 'yaml'

/** Ours are marked, as kubeconfigs provide for it; others of the same name are never touched. */
const MARK = 'gyropilot'

const KINDS = [
  ['clusters', 'cluster'],
  ['users', 'user'],
  ['contexts', 'context'],
] as const

export type Merged = { readonly text: string } | { readonly problem: string }

export interface MergedCluster {
  /** Of context, cluster and user. */
  readonly name: string
  readonly server: string
}

/** `own` is the kubeconfig of the cluster; it becomes the current context. */
export function withCluster(text: string, own: string, { name, server }: MergedCluster): Merged {
  const document = documentOf(text)
  if (typeof document === 'string') return { problem: document }
  const theirs = firstEntries(own)
  if (theirs === undefined)
    return {
      problem:
        'gets no entry: the kubeconfig of the cluster itself has lost its cluster, user or context: start it again',
    }
  const mark = [{ name: MARK, extension: { server } }]
  const values = {
    cluster: { ...theirs.cluster, extensions: mark },
    user: { ...theirs.user, extensions: mark },
    context: { ...theirs.context, cluster: name, user: name, extensions: mark },
  }
  for (const [list, key] of KINDS) {
    const entries = listOf(document, list)
    const at = entries.items.findIndex((item) => isNamed(item, name))
    if (at >= 0 && markOf(entries.items[at], key) === undefined)
      return {
        problem: `has an entry ${name} among its ${list} that is not of gyro: rename it, or take it away`,
      }
    const entry = document.createNode({ name, [key]: values[key] })
    if (at >= 0) entries.items[at] = entry
    else entries.items.push(entry)
  }
  document.set('current-context', name)
  return { text: written(document, text) }
}

/** Undefined: somebody has edited the file, and one is missing. */
function firstEntries(text: string): Record<'cluster' | 'user' | 'context', object> | undefined {
  const document = parseDocument(text)
  const [cluster, user, context] = KINDS.map(([list, key]) => document.getIn([list, 0, key]))
  return isMap(cluster) && isMap(user) && isMap(context)
    ? {
        cluster: cluster.toJS(document) as object,
        user: user.toJS(document) as object,
        context: context.toJS(document) as object,
      }
    : undefined
}

/** Entries of that name that are marked for that server go; so does the choice of the context, as kind does it. */
export function withoutCluster(text: string, { name, server }: MergedCluster): Merged {
  const document = documentOf(text)
  if (typeof document === 'string') return { problem: document }
  let changed = false
  for (const [list, key] of KINDS) {
    const entries = document.get(list)
    if (!isSeq(entries)) continue
    const kept = entries.items.filter(
      (item) => !isNamed(item, name) || markOf(item, key) !== server,
    )
    if (kept.length === entries.items.length) continue
    changed = true
    entries.items = kept
    if (list === 'contexts' && document.get('current-context') === name)
      document.set('current-context', '')
  }
  return { text: changed ? written(document, text) : text }
}

/** JSON stays JSON, and lists stay where they stood: kubectl writes them without indentation. */
function written(document: Document, before: string): string {
  if (before.trimStart().startsWith('{')) return `${JSON.stringify(document.toJS(), null, 2)}\n`
  const indentSeq = /^(?:clusters|users|contexts):[^\n]*\n +- /m.test(before)
  return document.toString({ lineWidth: 0, indentSeq })
}

/** A text: what is wrong with it. */
function documentOf(text: string): Document | string {
  const document = parseDocument(text)
  const [error] = document.errors
  if (error !== undefined)
    return `is not YAML: ${error.message.split('\n', 1)[0]!.replace(/:$/, '')}`
  if (document.contents === null) {
    const empty: Document = parseDocument('apiVersion: v1\nkind: Config\n')
    empty.commentBefore = document.commentBefore
    return empty
  }
  if (!isMap(document.contents)) return 'is no kubeconfig: it is not a map'
  for (const [list] of KINDS) {
    const value = document.get(list)
    if (value !== undefined && value !== null && !isSeq(value))
      return `is no kubeconfig: its ${list} are not a list`
  }
  return document
}

function listOf(document: Document, name: string): YAMLSeq {
  const value = document.get(name)
  if (isSeq(value)) {
    // One that was written as [] is longer now.
    if (value.items.length === 0) value.flow = false
    return value
  }
  const list = document.createNode([]) as YAMLSeq
  document.set(name, list)
  return list
}

function isNamed(item: unknown, name: string): boolean {
  return isMap(item) && item.get('name') === name
}

/** The server that the entry was made for; undefined: it is not ours. */
function markOf(item: unknown, key: string): string | undefined {
  const extensions = isMap(item) ? item.getIn([key, 'extensions']) : undefined
  if (!isSeq(extensions)) return undefined
  const mark = extensions.items.find((one) => isNamed(one, MARK))
  const server = isMap(mark) ? mark.getIn(['extension', 'server']) : undefined
  return typeof server === 'string' ? server : undefined
}
