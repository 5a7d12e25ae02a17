/** Keys of the queue: pods and rules, each with its uid, for a successor of the name is another one. */
import type { KubernetesObject } from '@gyropilot/api'

export type Item =
  | {
      readonly kind: 'pod'
      readonly namespace: string
      readonly name: string
      readonly uid: string
    }
  | { readonly kind: 'rule'; readonly name: string; readonly uid: string }

export function podItemKey({ metadata }: KubernetesObject): string {
  return `pod:${metadata?.namespace}/${metadata?.name}/${metadata?.uid}`
}

export function ruleItemKey(name: string, uid: string): string {
  return `rule:${name}/${uid}`
}

export function parseItem(key: string): Item {
  const parts = key.slice(key.indexOf(':') + 1).split('/')
  if (!key.startsWith('pod:')) return { kind: 'rule', name: parts[0] ?? '', uid: parts[1] ?? '' }
  const [namespace = '', name = '', uid = ''] = parts
  return { kind: 'pod', namespace, name, uid }
}
