"""ECS tasks: Fargate definitions as CDK writes them, and tasks that run until the rehearsal ends them."""
from moto.ecs import models


def install() -> None:
    # moto counts the resources of EC2 instances, which Fargate does not have.
    nothing = {"CPU": 0, "MEMORY": 0, "PORTS": [], "PORTS_UDP": []}
    backend = models.EC2ContainerServiceBackend
    backend._calculate_task_resource_requirements = staticmethod(lambda definition: dict(nothing))
    initialize = models.Task.__init__

    def task(self, *args, **kwargs):
        network = kwargs.get("networking_configuration")
        if network:
            network.setdefault("awsvpcConfiguration", {}).setdefault("securityGroups", [])
        initialize(self, *args, **kwargs)

    models.Task.__init__ = task
