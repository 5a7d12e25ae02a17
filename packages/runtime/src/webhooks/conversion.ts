/** Contract: docs/behaviour/runtime/custom-controllers.md, Webhooks. */
import type { KubernetesObject } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import type { Webhook } from './webhooks.ts'

/** The object in the form of another version of its kind. Metadata but labels and annotations must stay; `apiVersion` is set for it. */
export type Convert = (
  object: KubernetesObject,
  apiVersion: string,
) => KubernetesObject | Promise<KubernetesObject>

interface ConversionRequest {
  readonly desiredAPIVersion: string
  /** A Go list: an empty one may be null. */
  readonly objects: readonly KubernetesObject[] | null
}

/** Between the versions of a CustomResourceDefinition. What it throws for one object fails the request for all of them. */
export function conversionWebhook(convert: Convert): Webhook {
  return {
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    async respond(request) {
      const { desiredAPIVersion, objects } = request as unknown as ConversionRequest
      try {
        const convertedObjects = await Promise.all(
          (objects ?? []).map(async (object) => {
            if (object.apiVersion === desiredAPIVersion) return object
            return { ...(await convert(object, desiredAPIVersion)), apiVersion: desiredAPIVersion }
          }),
        )
        return { convertedObjects, result: { status: 'Success' } }
      } catch (error) {
        return { result: { status: 'Failure', message: errorText(error) } }
      }
    },
  }
}
