import type { AdmissionPlugin, AdmissionRequest, ResourceInfo } from '../contracts.ts'
import { compareQuantities } from '@gyropilot/api'
import { isFor, newestFirst, read, readAll, refusal } from './world.ts'
import type { AdmissionWorld } from './world.ts'

const CLASSES = 'storageclasses.storage.k8s.io'
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'
const DEFAULT_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

/** A claim without a class (absent, not empty) gets the newest default class. */
export function defaultStorageClass(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'DefaultStorageClass',
    handles: (request) =>
      request.operation === 'CREATE' && isFor(request, '', 'persistentvolumeclaims'),
    mutate({ object }) {
      const { spec, metadata } = object!
      if (
        spec?.storageClassName !== undefined ||
        metadata.annotations?.[CLASS_ANNOTATION] !== undefined
      )
        return
      const isDefault = (annotations: Record<string, string> | undefined): boolean =>
        DEFAULT_ANNOTATIONS.some((key) => annotations?.[key] === 'true')
      const [chosen] = newestFirst(
        readAll(world, CLASSES).filter((entry) => isDefault(entry['metadata'].annotations)),
      )
      if (chosen !== undefined && spec !== undefined)
        spec.storageClassName = chosen['metadata'].name
    },
  }
}

/** By collection. */
const FINALIZERS: Readonly<Record<string, string>> = {
  persistentvolumes: 'kubernetes.io/pv-protection',
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  'volumeattributesclasses.storage.k8s.io': 'kubernetes.io/vac-protection',
}

function finalizerOf({ resource, group }: ResourceInfo): string | undefined {
  return FINALIZERS[group === '' ? resource : `${resource}.${group}`]
}

/** Volumes, claims and attribute classes stay while something uses them. */
export function storageObjectInUseProtection(): AdmissionPlugin {
  return {
    name: 'StorageObjectInUseProtection',
    handles: ({ operation, resource, subresource }) =>
      operation === 'CREATE' && subresource === '' && finalizerOf(resource) !== undefined,
    mutate({ object, resource }) {
      const finalizer = finalizerOf(resource)!
      const finalizers: string[] = object!['metadata'].finalizers ?? []
      if (!finalizers.includes(finalizer))
        object!['metadata'].finalizers = [...finalizers, finalizer]
    },
  }
}

/** Claims grow only when they are bound and their class says that it can be done. */
export function persistentVolumeClaimResize(world: AdmissionWorld): AdmissionPlugin {
  return {
    name: 'PersistentVolumeClaimResize',
    handles: (request) =>
      request.operation === 'UPDATE' && isFor(request, '', 'persistentvolumeclaims'),
    validate(request) {
      if (!grows(request)) return
      const { oldObject, object } = request
      if (oldObject!['status']?.phase !== 'Bound')
        throw refusal(request, 'Only bound persistent volume claims can be expanded')
      const className =
        object!['metadata'].annotations?.[CLASS_ANNOTATION] ??
        object!['spec'].storageClassName ??
        ''
      if (className !== '' && read(world, CLASSES, className)?.['allowVolumeExpansion'] === true)
        return
      const why =
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize'
      throw refusal(request, why)
    },
  }
}

function grows({ object, oldObject }: AdmissionRequest): boolean {
  const before: string | undefined = oldObject?.['spec'].resources?.requests?.storage
  const after: string | undefined = object?.['spec'].resources?.requests?.storage
  return before !== undefined && after !== undefined && compareQuantities(after, before) > 0
}
