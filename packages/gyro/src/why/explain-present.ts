/** An object that nobody is deleting, though somebody wonders: what keeps a deletion from being made. Pure. */
import { hasFinalizer, isTerminating } from '@gyropilot/api'
import type { Explanation, Facts, Reason } from './facts.ts'
import { fullName, shortName } from './words.ts'
import { webhookFindings } from './webhooks.ts'

export function explainPresent(facts: Facts): Explanation {
  const webhooks = webhookFindings(facts, [{ operation: 'DELETE', subresource: '' }])
  const reasons = [...ownerReasons(facts), ...namespaceReason(facts), ...webhooks.reasons]
  const notes = [...webhooks.notes, ...makers(facts)]
  const finalizers = facts.object.metadata?.finalizers ?? []
  if (finalizers.length > 0)
    notes.push(`a deletion would wait for the finalizer ${finalizers.join(', ')}`)
  const address = facts.object['spec'] as { parentRef?: ParentRef } | undefined
  if (facts.type.resource === 'ipaddresses' && address?.parentRef !== undefined)
    notes.push(parentText(address.parentRef))
  return { state: 'present', reasons, notes }
}

interface ParentRef {
  readonly resource?: string
  readonly namespace?: string
  readonly name?: string
}

function parentText({ resource, namespace, name }: ParentRef): string {
  return `it is the address of ${resource} ${name} in ${namespace}, and goes with it`
}

/** What the garbage collector would do: docs/behaviour/controllers/garbage-collector-controller.md, steps 6 to 9. */
function ownerReasons({ owners }: Facts): readonly Reason[] {
  const solid = owners.some(
    ({ owner }) =>
      owner.state === 'there' &&
      !(isTerminating(owner.found.object) && isForeground(owner.found.object)),
  )
  if (solid || owners.length === 0) return []
  // One that cannot be resolved keeps the garbage collector from judging by the others.
  const unresolved = owners.filter(({ owner }) => owner.state === 'no namespace')
  return (unresolved.length > 0 ? unresolved : owners).map(({ reference, owner }): Reason => {
    const name = `${reference.kind} ${reference.name}`
    switch (owner.state) {
      case 'there':
        return {
          code: 'OwnerDeleting',
          holds: `its owner ${shortName(owner.found)} is being deleted in the foreground`,
          remover: 'the garbage collector of kube-controller-manager',
          evidence: [],
          release: 'the garbage collector deletes it, and the owner after it',
          waitsFor: [],
        }
      case 'gone':
        return {
          code: 'OwnerGone',
          holds: `its owner ${name} (uid ${reference.uid}) does not exist any more`,
          remover: 'the garbage collector of kube-controller-manager',
          evidence: [],
          release: 'the garbage collector deletes it as soon as it has seen that',
          waitsFor: [],
        }
      case 'unknown kind':
        return {
          code: 'OwnerGone',
          holds: `its owner ${name} is of a kind (${reference.apiVersion}) that the server does not have`,
          remover:
            'the garbage collector of kube-controller-manager, which cannot tell whether the owner is there',
          evidence: [],
          release: `${reference.apiVersion} is served again, or the owner reference is taken away`,
          waitsFor: [],
        }
      case 'no namespace':
        return {
          code: 'OwnerGone',
          holds: `its owner ${name} is of a kind with namespaces, and this object has none: nobody can tell which one is meant (OwnerRefInvalidNamespace)`,
          evidence: [
            'the garbage collector of kube-controller-manager never deletes such an object',
          ],
          release: 'the owner reference is taken away, or the object is deleted by hand',
          waitsFor: [],
        }
      case 'unreadable':
        return {
          code: 'OwnerGone',
          holds: `its owner ${name} cannot be read`,
          evidence: [owner.reason],
          release: 'the owner can be read again',
          waitsFor: [],
        }
    }
  })
}

const isForeground = (object: Facts['object']): boolean =>
  hasFinalizer(object, 'foregroundDeletion')

function namespaceReason({ namespace, type, object }: Facts): readonly Reason[] {
  if (namespace === undefined || !isTerminating(namespace)) return []
  return [
    {
      code: 'NamespaceTerminating',
      holds: `its namespace ${namespace.metadata?.name} is being deleted and has not come to it`,
      remover: 'the namespace controller of kube-controller-manager',
      evidence:
        type.resource === 'pods'
          ? []
          : ['it deletes pods first, and everything else when they are gone'],
      release: `the namespace controller deletes it: see gyro why namespace/${object.metadata?.namespace}`,
      waitsFor: [],
    },
  ]
}

/** Deleted, it would be back at once. */
function makers({ owners }: Facts): readonly string[] {
  return owners.flatMap(({ reference, owner }) =>
    reference.controller && owner.state === 'there'
      ? [`when it is deleted, ${fullName(owner.found)} may make another like it`]
      : [],
  )
}
