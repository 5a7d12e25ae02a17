import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.ts'
import { openApiDocument } from '../openapi-document.ts'

interface PublishedDocumentsParts {
  readonly registry: ResourceRegistry
  /** Publishes the OpenAPI document of a group version (`apis/example.com/v1`), or takes it back. */
  publish(path: string, document: object | undefined): void
}

/** OpenAPI documents of custom resources: made again when something else is served than when they were made. */
export class PublishedDocuments {
  readonly #parts: PublishedDocumentsParts
  /** What they were made of. */
  readonly #published = new Map<string, readonly ServedResource[]>()

  constructor(parts: PublishedDocumentsParts) {
    this.#parts = parts
  }

  align(group: string): void {
    const { registry, publish } = this.#parts
    const versions = new Map<string, ServedResource[]>()
    const prefix = `apis/${group}/`
    for (const path of this.#published.keys())
      if (path.startsWith(prefix)) versions.set(path.slice(prefix.length), [])
    for (const resource of registry.all()) {
      const { definition, info } = resource
      if (definition === undefined || info.group !== group) continue
      versions.set(info.version, [...(versions.get(info.version) ?? []), resource])
    }
    for (const [version, resources] of versions) {
      const path = prefix + version
      const before = this.#published.get(path) ?? []
      if (
        before.length === resources.length &&
        before.every((resource, index) => resource === resources[index])
      )
        continue
      publish(path, openApiDocument(resources))
      if (resources.length === 0) this.#published.delete(path)
      else this.#published.set(path, resources)
    }
  }
}
