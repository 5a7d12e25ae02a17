/** A kubeconfig with a cluster of ours in it, and without it again. What else is written there stays, byte for byte. Pure. */
import { isDeepStrictEqual } from 'node:util'
import { isMap, isSeq, parseDocument } from 'yaml'
import type { Document } from 'yaml'
import { Splices } from './spliced-text.ts'

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
  const before = isEmpty(text) ? begun(text) : text
  const document = documentOf(before)
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
  const splices = new Splices(before, document)
  const wanted = meaningOf(before)
  if (wanted === undefined) return { problem: NOT_CHANGED }
  for (const [list, key] of KINDS) {
    const items = itemsOf(document, list)
    const at = items.findIndex((item) => isNamed(item, name))
    if (at >= 0 && markOf(items[at], key) === undefined)
      return {
        problem: `has an entry ${name} among its ${list} that is not of gyro: rename it, or take it away`,
      }
    const entry = { name, [key]: values[key] }
    splices.put(list, at < 0 ? undefined : at, entry)
    wanted[list] = asTexts(
      at < 0 ? [...listIn(wanted, list), entry] : listIn(wanted, list).with(at, entry),
    )
  }
  splices.set('current-context', name)
  return sure(splices.text(), { ...wanted, 'current-context': name })
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
  const splices = new Splices(text, document)
  const wanted = meaningOf(text)
  if (wanted === undefined) return { problem: NOT_CHANGED }
  let changed = false
  for (const [list, key] of KINDS) {
    const gone = itemsOf(document, list).flatMap((item, index) =>
      isNamed(item, name) && markOf(item, key) === server ? [index] : [],
    )
    if (gone.length === 0) continue
    changed = true
    splices.remove(list, gone)
    wanted[list] = listIn(wanted, list).filter((_, index) => !gone.includes(index))
    if (list === 'contexts' && document.get('current-context') === name) {
      splices.set('current-context', '')
      wanted['current-context'] = ''
    }
  }
  return changed ? sure(splices.text(), wanted) : { text }
}

const NOT_CHANGED =
  'is laid out in a way that gyro does not change: its entries have to be edited by hand'

/** Layouts that nobody thought of are left alone: what comes out has to mean what was wanted, and nothing else. */
function sure(text: string, wanted: Meaning): Merged {
  return typeof documentOf(text) !== 'string' && isDeepStrictEqual(meaningOf(text), wanted)
    ? { text }
    : { problem: NOT_CHANGED }
}

type Meaning = Record<string, unknown>

/** Every scalar as it is written, so that no number loses digits. Undefined: it refers to what is not there. */
function meaningOf(text: string): Meaning | undefined {
  try {
    return parseDocument(text, { schema: 'failsafe' }).toJS() as Meaning
  } catch (error) {
    if (error instanceof ReferenceError) return undefined
    throw error
  }
}

function asTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asTexts)
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, asTexts(each)]))
}

function listIn(meaning: Meaning, name: string): readonly unknown[] {
  const list = meaning[name]
  return Array.isArray(list) ? list : []
}

function isEmpty(text: string): boolean {
  return parseDocument(text).contents === null
}

/** Comments stay in front. */
function begun(text: string): string {
  const comments = text === '' || text.endsWith('\n') ? text : `${text}\n`
  return `${comments}apiVersion: v1\nkind: Config\n`
}

/** A text: what is wrong with it. */
function documentOf(text: string): Document | string {
  const document = parseDocument(text, { keepSourceTokens: true })
  const [error] = document.errors
  if (error !== undefined)
    return `is not YAML: ${error.message.split('\n', 1)[0]!.replace(/:$/, '')}`
  if (document.contents !== null && !isMap(document.contents))
    return 'is no kubeconfig: it is not a map'
  for (const [list] of KINDS) {
    const value = document.get(list)
    if (value !== undefined && value !== null && !isSeq(value))
      return `is no kubeconfig: its ${list} are not a list`
  }
  return document
}

function itemsOf(document: Document, name: string): readonly unknown[] {
  const value = document.get(name)
  return isSeq(value) ? value.items : []
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
