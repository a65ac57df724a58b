"""What the controllers that keep pods share: facts about pods, ownership, templates, revisions."""
